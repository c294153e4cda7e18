#if canImport(Glibc)
  internal import Glibc
#endif

enum SimulationMath {
  static func logarithm(_ number: Double) -> Double { log(number) }
}
