internal import BenchSubjects
internal import CBenchmark
internal import Carabiner
internal import CarabinerManifest
internal import CarabinerProvider
internal import Foundation

extension Benchmark {
  /// The number of plugins in the manifests of these cases. Each is a separate library.
  private static let plugins = 20

  static let generations: [Benchmark] = [
    Benchmark(name: "start.ms", summary: "a process with 20 plugins in its manifest, from exec until it could serve") {
      inputs in
      let manifest = try PluginCopies(of: "\(inputs.plugins)/noop.so").manifest(plugins:)
      return try repeated("start", manifest) { manifest in
        let cpu = bench_children_cpu_ns()
        let wall = try started(manifest)
        return (wall, bench_children_cpu_ns() - cpu)
      }
    },
    Benchmark(name: "reload.ms", summary: "a new generation of 20 plugins made beside the old one, which it then replaces") {
      let manifest = try PluginCopies(of: "\($0.plugins)/noop.so").manifest(plugins:)
      let operation = DynamicOperation(document: Samples.itemsDocument, operationName: "Items")
      var current: HostedChain?
      return try repeated("reload", manifest) { manifest in
        let (wall, cpu) = (bench_wall_ns(), bench_cpu_ns())
        let next = try HostedChain(Manifest.load(path: manifest))
        // A plan is made by the first request of its kind.
        _ = try next.interceptors(for: operation, context: RequestContext())
        current = next
        return (bench_wall_ns() - wall, bench_cpu_ns() - cpu)
      }
    },
  ]

  /// The times of an operation that runs once for each manifest. The first manifest is the warm-up.
  private static func repeated(
    _ name: String, _ manifest: (Int) throws -> String, _ body: (String) throws -> (wall: UInt64, cpu: UInt64)
  ) throws -> [Figure] {
    var taken: [(wall: UInt64, cpu: UInt64)] = []
    for _ in 0...Measurement.samples { taken.append(try body(manifest(plugins))) }
    let (wall, cpu) = (taken.dropFirst().map { Double($0.wall) }.median, taken.dropFirst().map { Double($0.cpu) }.median)
    return [Figure("\(name).ms", wall / 1e6), Figure("\(name).cpu.ms", cpu / 1e6)]
  }

  /// Runs a host until it reports that it is ready to serve.
  /// - Returns: The time until then, in nanoseconds.
  private static func started(_ manifest: String) throws -> UInt64 {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["host", manifest]
    let output = Pipe()
    process.standardOutput = output
    let start = bench_wall_ns()
    try process.run()
    let said = try output.fileHandleForReading.read(upToCount: Host.readiness.count)
    let taken = bench_wall_ns() - start
    process.waitUntilExit()
    guard said == Host.readiness, process.terminationStatus == 0 else {
      throw Inputs.Missing(description: "the host did not come up: status \(process.terminationStatus)")
    }
    return taken
  }
}
