import Carabiner
import CarabinerBridge
import CarabinerProvider
import CarabinerWorkers
import Foundation
import Glibc
import Synchronization
import TestTools
import Testing

/// The effects on calls, and on the host, when workers end.
///
/// `CARABINER_WORKER_KILLS` and `CARABINER_WORKER_RESTARTS` set how often workers are killed; `Scripts/scenario soak --workers` sets both.
@Suite("Workers that end")
struct WorkerLossTests {
  private static func number(_ variable: String, default number: Int) -> Int {
    ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? number
  }

  private static let often = ", lanes: 2, restart: {backoff: 1ms, maximum: 1ms, after: 1000}"

  @Test(
    "exit, a signal and a stack overflow in each hook fail the call of the worker, with the reason",
    .rule("worker-test.26", "worker.44"),
    arguments: ["on_request", "on_result"],
    [("exit", "exit status 0"), ("abort", "signal 6"), ("segv", "signal 11"), ("overflow", "signal 11")])
  func ends(hook: String, how: (String, String)) async throws {
    let other = try await WorkerChain("steady")
    let chain = try await WorkerChain("crash", config: "{where: \(hook), how: \(how.0)}", isolation: Self.often)
    let first = try chain.process
    let failure = try #require(try await chain.failure())
    #expect(failure.code == .crashed && failure.entry == "p" && failure.hook == hook)
    #expect(failure.message.contains(how.1) && failure.message.contains("during this call"))
    #expect(try await other.name() == "server")
    try await chain.next(after: first)
  }

  @Test("SIGKILL from outside fails the call whose hook runs", .rule("worker-test.26"), arguments: ["on_request", "on_result"])
  func killed(hook: String) async throws {
    let chain = try await WorkerChain("crash", config: "{where: \(hook), how: wait}", isolation: "\(Self.often), hang: 1h")
    // A call that was not begun is sent to the next worker, where its hook does not end either. If that worker comes late, because groups of
    // other tests start too, the call is not available, and another one is made (`worker.52`, `worker.53`).
    var code: PluginError.Code?
    for _ in 0..<100 where code == nil || code == .unavailable { code = try await Self.killedCall(chain)?.code }
    #expect(code == .crashed)
  }

  /// A call, and SIGKILL for the worker whenever it is under way there.
  private static func killedCall(_ chain: WorkerChain) async throws -> PluginError? {
    let load = Load()
    let call = Task {
      defer { load.isKilled.store(true, ordering: .relaxed) }
      return try await chain.failure()
    }
    while !load.isKilled.load(ordering: .relaxed) {
      if let worker = chain.worker, worker.underWay > 0, let process = worker.process { kill(process, SIGKILL) }
      try await Task.sleep(for: .milliseconds(5))
    }
    return try await call.value
  }

  @Test("a crash in release() fails no call, and the next call has another worker", .rule("worker-test.26"))
  func release() async throws {
    let chain = try await WorkerChain("crash", config: "{where: release}", isolation: Self.often)
    let first = try chain.process
    #expect(try await chain.name() == "server")
    try await chain.next(after: first)
    #expect(try await chain.name() == "server")
  }

  @Test("with 32 calls in flight and kill -9, each is answered, and no worker runs one twice", .rule("worker-test.27"))
  func inFlight() async throws {
    let kills = Self.number("CARABINER_WORKER_KILLS", default: 5)
    let chain = try await WorkerChain("steady", config: "{what: sleep, ms: 2}", isolation: Self.often)
    var (answered, lost) = (0, 0)
    for _ in 0..<kills {
      let process = try await chain.until("a process") { $0.condition == .up ? $0.process : nil }
      let failures = try await Self.load(chain, kills: process)
      for failure in failures.compactMap(\.self) {
        // The others had not begun, and the next worker has run them. It comes late if groups of other tests start too (`worker.52`,
        // `worker.53`).
        try #require(failure.code == .crashed || failure.code == .unavailable, "\(failure)")
        lost += 1
      }
      answered += failures.count
      try await chain.next(after: process)
    }
    #expect(answered >= 32 * kills)
    print("\(kills) kills, \(answered) calls answered, \(lost) of them with an error")
  }

  private final class Load: Sendable {
    let isKilled = Atomic(false)
  }

  /// Keeps 32 calls in flight until some are in a process, which is then killed.
  ///
  /// - Returns: The errors of all calls.
  private static func load(_ chain: WorkerChain, kills process: Int32) async throws -> [PluginError?] {
    let load = Load()
    return try await withThrowingTaskGroup(of: [PluginError?].self) { group in
      for _ in 0..<32 {
        group.addTask {
          var failures: [PluginError?] = []
          repeat { failures.append(try await chain.failure()) } while !load.isKilled.load(ordering: .relaxed)
          return failures
        }
      }
      // The calls take the threads of the pool.
      DispatchQueue.global().async {
        while let worker = chain.worker, worker.process == process, worker.underWay < 2 { usleep(500) }
        kill(process, SIGKILL)
        load.isKilled.store(true, ordering: .relaxed)
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  @Test(
    "the largest arena and one that is not a multiple of a block come up", .rule("worker.19", "worker.47"),
    arguments: ["4GiB", "1048577"])
  func arenas(size: String) async throws {
    let chain = try await WorkerChain("steady", isolation: ", lanes: 1, arena: \(size)")
    #expect(try await chain.name() == "server")
  }

  @Test("a hook that is pending for longer than hang does not hang", .rule("worker-test.29"))
  func pending() async throws {
    let chain = try await WorkerChain("steady", config: "{what: pend, ms: 600}", isolation: ", hang: 100ms")
    let process = try chain.process
    #expect(try await chain.name() == "server")
    #expect(try chain.process == process)
  }

  @Test("a plugin that leaks ends at the limit of its memory, and another group goes on", .rule("worker-test.30", "worker.47"))
  func leak() async throws {
    let other = try await WorkerChain("steady")
    let chain = try await WorkerChain("steady", config: "{what: leak}", isolation: ", memory: 32MiB, hang: 1h")
    #expect(try await chain.failure()?.code == .crashed)
    #expect(try await other.name() == "server")
  }

  @Test("processes are refused, and threads have a limit", .rule("worker-test.31", "worker.47"), arguments: ["fork", "threads"])
  func processes(what: String) async throws {
    let other = try await WorkerChain("steady")
    let chain = try await WorkerChain("steady", config: "{what: \(what)}", isolation: ", hang: 1h")
    #expect(try await chain.name() == "server")
    #expect(try await other.name() == "server")
  }

  @Test("with on-fault: skip, requests are answered while the worker is away", .rule("worker-test.32", "worker.40"))
  func skipped() async throws {
    let restart = ", restart: {backoff: 1h, maximum: 1h}"
    let chain = try await WorkerChain(turn: "crash-later-creates", isolation: restart, extra: ", on-fault: skip")
    kill(try chain.process, SIGKILL)
    _ = try await chain.until("a worker that backs off") { if case .backingOff = $0.condition { true } else { nil } }
    for _ in 0..<3 { #expect(try await chain.name() == "server") }
  }

  @Test(
    "a call that was in a worker waits one second for the next one, also if a signal stops that during its start",
    .rule("worker.53"))
  func stoppedAtStart() async throws {
    let restart = ", hang: 200ms, restart: {backoff: 1ms, maximum: 1ms, after: 1000}"
    let chain = try await WorkerChain(turn: "stop-later-creates", isolation: restart)
    try await StoppedProcess.stop(try chain.process)
    #expect(try await chain.failure()?.code == .unavailable)
    let reason = try await chain.until("a start that was stopped") {
      $0.lastReason.contains("while it started") ? $0.lastReason : nil
    }
    #expect(reason.contains("a signal stopped it for longer than"), "\(reason)")
  }

  /// A subscription, whose second result comes when the test wants it.
  private final class Subscription: HTTPTransport {
    private let parts = [
      "--b\r\n\r\n{\"payload\":{\"data\":{\"n\":1}}}\r\n--b", "\r\n\r\n{\"payload\":{\"data\":{\"n\":2}}}\r\n--b--",
    ]
    private let position = Atomic(0)
    private let gate = AsyncStream<Void>.makeStream()

    func goOn() { gate.continuation.finish() }

    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      HTTPResponse(
        response: Carabiner.HTTPURLResponse(
          url: request.url, statusCode: 200, headers: ["Content-Type": "multipart/mixed; boundary=b; subscriptionSpec=1.0"]),
        chunks: PullStream { [self] in
          let index = position.wrappingAdd(1, ordering: .relaxed).oldValue
          guard index > 0 else { return .element(Data(parts[0].utf8)) }
          for await _ in gate.stream {}
          return .last(Data(parts[1].utf8))
        })
    }
  }

  /// The results of a subscription, and its error.
  private static func subscribe(
    _ chain: WorkerChain, _ transport: Subscription, first: () async throws -> Void
  ) async throws -> (count: Int, error: PluginError?) {
    let operation = DynamicOperation(document: "subscription { n }", operationName: nil, operationType: .subscription)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: chain.chain, endpointURL: url, httpTransport: transport))
    var count = 0
    do {
      for try await _ in try client.results(of: operation, cachePolicy: .networkOnly) {
        count += 1
        if count == 1 { try await first() }
      }
      return (count, nil)
    } catch let error as PluginError {
      return (count, error)
    }
  }

  @Test("a subscription whose worker ends has an error, and others go on", .rule("worker-test.36"))
  func subscription() async throws {
    let chain = try await WorkerChain("steady", isolation: Self.often)
    let other = try await WorkerChain("steady", isolation: Self.often)
    let (transport, otherTransport) = (Subscription(), Subscription())
    let process = try chain.process
    let lost = try await Self.subscribe(chain, transport) {
      kill(process, SIGKILL)
      try await chain.next(after: process)
      transport.goOn()
    }
    #expect(lost.count == 1 && lost.error?.code == .crashed, "\(lost)")
    let found = try await Self.subscribe(other, otherTransport) { otherTransport.goOn() }
    #expect(found.count == 2 && found.error == nil, "\(found)")
  }

  @Test("one end of a worker with many calls in flight does not open the breaker", .rule("worker-test.33", "worker.40"))
  func oneFault() async throws {
    let chain = try await WorkerChain(
      "steady", config: "{what: sleep, ms: 5}", isolation: Self.often, extra: ", on-fault: open-after-5")
    let process = try chain.process
    _ = try await Self.load(chain, kills: process)
    try await chain.next(after: process)
    // Two lanes name two hooks that may have ended the process.
    let entry = try #require(chain.chain.entries().first)
    #expect(entry.faults <= 2, "\(entry)")
  }

  @Test("groups that end together are started ten a second", .rule("worker-test.35", "worker.52"))
  func together() async throws {
    var chains: [WorkerChain] = []
    for _ in 0..<12 { chains.append(try await WorkerChain(turn: "none")) }
    let processes = try chains.map { try $0.process }
    let began = ContinuousClock.now
    for process in processes { kill(process, SIGKILL) }
    for (chain, process) in zip(chains, processes) { try await chain.next(after: process) }
    // Eleven pauses of 100 ms lie between twelve starts.
    #expect(ContinuousClock.now - began >= .milliseconds(1100))
    for chain in chains { #expect(try await chain.name() == "server") }
  }

  @Test("when the launcher is killed, its workers end, and the next call has a new one", .rule("worker-test.37"))
  func launcher() async throws {
    // A launcher of its own: those of other tests go on.
    let folder = try FixturePlugin.Folder()
    let chain = try await WorkerChain("steady", isolation: "\(Self.often), read: [\(folder.url.path)]")
    let first = try chain.process
    let user = geteuid() == 0 ? WorkerOwner(user: 65534, group: 65534) : nil
    let launcher = WorkerLauncher.shared(reading: [folder.url.path], user: user, path: HostilePrograms.launcher.path)
    let process = try #require(launcher.process)
    #expect(kill(process, SIGKILL) == 0)
    try await chain.next(after: first)
    #expect(kill(first, 0) != 0)
    #expect(try await chain.name() == "server")
    #expect(launcher.process != process)
  }

  @Test("restarts leave no descriptor, no mapping and no process of their workers", .rule("worker-test.50"))
  func restarts() async throws {
    // A process of its own: other tests run workers and open descriptors at the same time.
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let restarts = WorkerLossTests.number("CARABINER_WORKER_RESTARTS", default: 12)
      let arena = 5 << 20
      let restart = "restart: {backoff: 1ms, maximum: 1ms, after: 1000, within: 1ms}"
      let chain = try await WorkerChain("steady", isolation: ", lanes: 1, arena: 5MiB, \(restart)")
      let user = geteuid() == 0 ? WorkerOwner(user: 65534, group: 65534) : nil
      let launcher = WorkerLauncher.shared(reading: [], user: user, path: HostilePrograms.launcher.path)
      let starter = try #require(launcher.process)
      func holdings() -> Holdings { Holdings(arena: arena, starter: starter) }
      #expect(try await chain.name() == "server")
      let before = holdings()
      #expect(before.memory == 4 && before.mappings == 4, "two directions of two pairs: \(before)")
      for _ in 0..<restarts {
        let process = try await chain.until("a process") { $0.condition == .up ? $0.process : nil }
        kill(process, SIGKILL)
        try await chain.next(after: process)
        try #require(try await chain.name() == "server")
      }
      // The objects of the last process end with the threads that still use them. A message may be kept for 60 s.
      _ = await eventually { holdings().memory <= 4 }
      let after = holdings()
      #expect(after.memory == before.memory && after.mappings == before.mappings, "\(before), \(after)")
      #expect(after.workers == before.workers && launcher.process == starter, "\(before), \(after)")
      #expect(after.descriptors < before.descriptors + 10, "\(before), \(after)")
      print("held before \(restarts) restarts: \(before), after \(after)")
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    for line in output.split(separator: "\n") where line.hasPrefix("held before") { print(line) }
  }

  /// The resources that this process and a launcher hold for workers.
  private struct Holdings {
    /// The files and mappings of shared memory with a size.
    var (memory, mappings) = (0, 0)
    var descriptors = 0
    /// The processes below the launcher.
    var workers = 0

    init(arena: Int, starter: Int32) {
      let size = arena + (128 << 10)
      let files = FileManager.default
      for name in (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
        descriptors += 1
        var status = stat()
        if let number = Int32(name), unsafe fstat(number, &status) == 0, status.st_size == size { memory += 1 }
      }
      for line in Self.text("/proc/self/maps").split(separator: "\n") where line.contains("memfd:carabiner") {
        let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
        if ends.count == 2, ends[1] - ends[0] == size { mappings += 1 }
      }
      let launcher = Self.children(of: "\(starter)").first
      workers = launcher.map { Self.children(of: $0).count } ?? 0
    }

    private static func children(of process: String) -> [String] {
      text("/proc/\(process)/task/\(process)/children").split(separator: " ").map(String.init)
    }

    private static func text(_ path: String) -> String {
      String(decoding: (try? FileHandle(forReadingAtPath: path)?.readToEnd()) ?? Data(), as: UTF8.self)
    }
  }
}
