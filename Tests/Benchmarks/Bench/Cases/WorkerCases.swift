internal import BenchSubjects
internal import CBenchmark
internal import Carabiner
internal import CarabinerManifest
internal import CarabinerProvider
internal import Foundation
internal import Glibc
internal import Synchronization

/// The same stages in process and in a worker. The aims are `worker.90` to `worker.94`.
extension Benchmark {
  /// The stages of one group follow one another, so that one crossing can call several hooks.
  static let workers: [Benchmark] =
    [1, 10].flatMap { stages in
      [1, 32].flatMap { concurrency in
        [
          crossing("set", "that set a header", "org.carabiner.bench.set", items: 9, stages, concurrency),
          crossing("read1k", "that read a result of 1 KB", "org.carabiner.bench.read", items: 9, stages, concurrency),
          crossing("read100k", "that read a result of 100 KB", "org.carabiner.bench.read", items: 985, stages, concurrency),
        ]
      }
    }
    + [1, 32].flatMap { concurrency in [("1k", 1 << 10), ("100k", 100 << 10)].map { socket($0, $1, concurrency) } }
    + [
      busy,
      restart("worker.crash", "a C plugin") { "\($0.plugins)/noop.so" },
      restart("worker.crash.swift", "a Swift plugin") { "\($0.plugins)/swift-noop.so" },
    ]

  // MARK: Crossings

  private static func manifest(_ file: String, _ interceptor: String?, stages: Int, isolation: String) -> String {
    let identity = interceptor.map { ", interceptor: \($0)" } ?? ""
    let names = (0..<stages).map { "p\($0)" }
    let entries = names.map { "  - {name: \($0), file: \(file)\(identity), isolation: \(isolation)}\n" }.joined()
    return """
      carabiner: 1
      plugins:
      \(entries)chain: {graphql: [\(names.joined(separator: ", "))], cache: [], http: [response-code]}
      """
  }

  /// A host with stages in process, one with the same stages in a worker, and the processes of the latter.
  private static func hosts(
    _ file: String, _ interceptor: String?, stages: Int, items: Int
  ) throws -> (inProcess: MockedHost, worker: MockedHost, processes: [Int32]) {
    let inProcess = try HostedChain(Manifest(text: manifest(file, interceptor, stages: stages, isolation: "in-process")))
    let worker = try HostedChain(
      Manifest(text: manifest(file, interceptor, stages: stages, isolation: "{mode: worker, group: all}")))
    return (
      try MockedHost(inProcess, items: items), try MockedHost(worker, items: items), worker.workers().compactMap(\.process)
    )
  }

  private static func crossing(
    _ kind: String, _ work: String, _ interceptor: String, items: Int, _ stages: Int, _ concurrency: Int
  ) -> Benchmark {
    let name = "worker.\(kind).s\(stages).c\(concurrency)"
    return Benchmark(name: name, summary: "\(stages) stages \(work), \(concurrency) at once, in a worker and in process") {
      inputs in
      let (inProcess, worker, processes) = try hosts(
        "\(inputs.plugins)/stages.so", interceptor, stages: stages, items: items)
      let measured = try await Measurement.inTurns(
        seconds: inputs.sampleSeconds, besides: processes,
        [inProcess, worker].map { host in { try await run(host, $0, concurrency) } })
      return measured[0].times("\(name).inprocess") + measured[1].times(name)
    }
  }

  private static func run(_ host: MockedHost, _ count: Int, _ concurrency: Int) async throws {
    guard concurrency > 1 else { return try await host.run(count) }
    let started = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<min(concurrency, count) { group.addTask { while started.next() <= count { try await host.run(1) } } }
      try await group.waitForAll()
    }
  }

  private static func socket(_ size: String, _ bytes: Int, _ concurrency: Int) -> Benchmark {
    let name = "seqpacket.\(size).c\(concurrency)"
    return Benchmark(name: name, summary: "peer: \(size)B over a SEQPACKET socket and back, \(concurrency) at once") { _ in
      var taken: [Measurement] = []
      for _ in 0..<Measurement.samples {
        let count = 20_000
        var cpu: UInt64 = 0
        let wall = bench_wall_ns()
        let code = unsafe bench_seqpacket(count, concurrency, bytes, &cpu)
        guard code == 0 else { throw Inputs.Missing(description: "the socket failed with error \(code)") }
        taken.append(
          Measurement(
            nanoseconds: Double(cpu) / Double(count), wallNanoseconds: Double(bench_wall_ns() - wall) / Double(count),
            allocations: 0))
      }
      return taken.median.times(name)
    }
  }

  // MARK: Busy processors

  private static let busy = Benchmark(
    name: "worker.busy", summary: "requests with one stage, one at a time, while each processor has a busy thread"
  ) { inputs in
    let (inProcess, worker, _) = try hosts(
      "\(inputs.plugins)/stages.so", "org.carabiner.bench.set", stages: 1, items: 9)
    try await inProcess.run(200)
    try await worker.run(200)
    let threads = BusyThreads(ProcessInfo.processInfo.activeProcessorCount)
    defer { threads.end() }
    var taken: (inProcess: [Double], worker: [Double]) = ([], [])
    for _ in 0..<5000 {
      taken.inProcess.append(try await microseconds { try await inProcess.run(1) })
      taken.worker.append(try await microseconds { try await worker.run(1) })
    }
    return [
      Figure("worker.busy.inprocess.p50.us", taken.inProcess.percentile(50)),
      Figure("worker.busy.p50.us", taken.worker.percentile(50)),
      Figure("worker.busy.inprocess.p99.us", taken.inProcess.percentile(99)),
      Figure("worker.busy.p99.us", taken.worker.percentile(99)),
    ]
  }

  private static func microseconds(_ body: () async throws -> Void) async throws -> Double {
    let start = bench_wall_ns()
    try await body()
    return Double(bench_wall_ns() - start) / 1000
  }

  // MARK: Crashes

  /// The number of crashes that are measured.
  private static let crashes = 11

  /// The time from the kill of a worker until the first answer. Each crash is the first one of its worker.
  private static func restart(
    _ name: String, _ plugin: String, _ file: @escaping @Sendable (Inputs) -> String
  ) -> Benchmark {
    Benchmark(name: "\(name).first.ms", summary: "\(plugin): from the kill of its worker until the next answer") { inputs in
      var taken: [Double] = []
      for _ in 0..<crashes {
        let chain = try HostedChain(
          Manifest(text: manifest(file(inputs), nil, stages: 1, isolation: "worker")))
        let host = try MockedHost(chain)
        try await host.run(100)
        guard let process = chain.workers().first?.process else { throw Inputs.Missing(description: "there is no worker") }
        taken.append(
          try await microseconds {
            guard kill(process, SIGKILL) == 0 else { throw Inputs.Missing(description: "the worker cannot be killed") }
            // The first call may be in the worker when it ends.
            do { try await host.run(1) } catch { try await host.run(1) }
          } / 1000)
        // The host starts at most ten workers a second again.
        try await Task.sleep(for: .milliseconds(150))
      }
      return [Figure("\(name).first.ms", taken.median), Figure("\(name).first.most.ms", taken.max() ?? .nan)]
    }
  }
}

extension [Double] {
  /// The value below which `percent` of the values are.
  fileprivate func percentile(_ percent: Int) -> Double { isEmpty ? .nan : sorted()[Swift.min(count * percent / 100, count - 1)] }
}

/// Threads that use all the processor time they get.
private final class BusyThreads: Sendable {
  private let isOver = Atomic(false)

  init(_ count: Int) {
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        while !isOver.load(ordering: .relaxed) {}
      }
    }
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}
