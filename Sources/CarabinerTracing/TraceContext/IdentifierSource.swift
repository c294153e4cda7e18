internal import Synchronization

/// Generates numbers for ids without a system call for each: a counter, mixed with SplitMix64.
///
/// Mixing is a bijection, so no number repeats before all have been used. The counter starts at a random value, so two processes have
/// different ids. The ids are not secret.
final class IdentifierSource: Sendable {
  static let shared = IdentifierSource()

  private let count = Atomic<UInt64>(UInt64.random(in: 0...(.max)))

  func next() -> UInt64 {
    var number = count.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}
