import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import CarabinerWorkers
import CommandTools
import Foundation
import Glibc
import TestTools
import Testing

/// Calls that wait for a worker, and calls of a worker that ends or does not run on.
@Suite("Calls that wait for a worker")
struct WorkerWaitingTests {
  private typealias Entry = TrialChain.Entry

  /// The folder of the gate, a file for which hooks wait.
  private let folder: FixturePlugin.Folder
  private let gate: URL

  init() throws {
    folder = try FixturePlugin.Folder()
    gate = folder.file("gate")
  }

  /// `isolation` of an entry whose hooks may wait for the gate.
  private func waiting(lanes: Int, _ more: String = "") -> String {
    "{mode: worker, lanes: \(lanes), hang: 10m, read: [\(folder.url.path)]\(more)}"
  }

  private func openGate() throws { try Data().write(to: gate) }

  @Test("hooks that take long do not hold the threads of the host", .rule("worker.24b"))
  func longHooks() async throws {
    let plugin = try await TrialChain.compile(into: folder, gate: gate)
    let long = try TrialChain(plugin, [Entry(name: "p", action: "gate", isolation: waiting(lanes: 2))])
    let other = try TrialChain(plugin, [Entry(name: "p", action: "pass", isolation: "in-process")])
    // More than the threads of the pool.
    let count = 4 * ProcessInfo.processInfo.activeProcessorCount
    try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<count { group.addTask { try await long.result() } }
      #expect(try await TrialChain.waits { long.underWay == count })
      #expect(try await other.result() == "server")
      #expect(long.underWay == count)
      try openGate()
      for try await name in group { #expect(name == "server") }
    }
  }

  @Test(
    "256 calls of a lane are under way, 1,024 wait for at most a second, and further ones are unavailable", .rule("worker.24d"))
  func fullQueue() async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder, gate: gate),
      [Entry(name: "p", action: "gate", isolation: waiting(lanes: 1))])
    let (underWay, more) = (256, 1024 + 20)
    var (good, refused) = (0, 0)
    try await withThrowingTaskGroup(of: PluginError?.self) { group in
      for _ in 0..<(underWay + more) { group.addTask { await chain.failure() } }
      #expect(try await TrialChain.waits { chain.underWay == underWay })
      for try await failure in group {
        if let failure {
          #expect(failure.code == .unavailable && failure.refusalStatus == 503, "\(failure)")
          refused += 1
        } else {
          good += 1
        }
        let status = try #require(chain.chain.workers().first)
        #expect(status.waiting <= 1024 && status.underWay <= underWay)
        if refused == more, good == 0 { try openGate() }
      }
    }
    #expect(good == underWay && refused == more)
  }

  @Test(
    "a hook that runs beyond the timeout of its entry fails its call, and its worker is not killed",
    .rule("worker.31", "worker-test.11"))
  func timeout() async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder, gate: gate),
      [Entry(name: "p", action: "gate", isolation: waiting(lanes: 2), extra: ", timeout: 100ms")])
    let process = chain.process
    let failure = try #require(await chain.failure())
    #expect(failure.code == .timedOut, "\(failure)")
    try openGate()
    // The late answer of the first hook changes nothing.
    #expect(try await chain.result() == "server")
    #expect(process != 0 && chain.process == process)
  }

  @Test("a call waits at most a second for a worker that starts, and is then unavailable", .rule("worker.53"))
  func slowStart() async throws {
    try openGate()
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder, gate: gate),
      [Entry(name: "p", action: "gate-create", isolation: waiting(lanes: 1))])
    let process = chain.process
    try FileManager.default.removeItem(at: gate)
    try #require(process != 0 && kill(process, SIGKILL) == 0)
    #expect(try await TrialChain.waits { chain.chain.workers().first?.condition == .starting })
    let failure = try #require(await chain.failure())
    #expect(failure.code == .unavailable && failure.refusalStatus == 503, "\(failure)")
    try openGate()
    try await chain.next(after: process)
    #expect(try await chain.result() == "server")
  }

  @Test(
    "a worker that is stopped does not stop the host: it is killed after hang, and the call is sent to the next one",
    .rule("worker.22", "worker.46"))
  func stopped() async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder), [Entry(name: "p", action: "pass", isolation: "{mode: worker, hang: 200ms}")])
    #expect(try await chain.result() == "server")
    let process = chain.process
    try await StoppedProcess.stop(process)
    let names = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<32 { group.addTask { try await chain.result() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(names == Array(repeating: "server", count: 32))
    #expect(chain.process != process)
    #expect(chain.chain.workers().first?.lastReason.contains("took no hook") == true, "\(chain.chain.workers())")
  }

  @Test(
    "of two calls in a worker that crashes, only one is blamed, and the other may be sent again", .rule("worker.43", "worker.45"))
  func culprit() async throws {
    let isolation = waiting(lanes: 2, ", group: both")
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder, gate: gate),
      [
        Entry(name: "innocent", action: "pend", isolation: isolation),
        Entry(name: "guilty", action: "crash", isolation: isolation),
      ],
      rules:
        "rules: [{when: {operation: Crash}, chain: {graphql: [guilty]}}, {when: {operation: Wait}, chain: {graphql: [innocent]}}]"
    )
    let process = chain.process
    let waiting = Task { await chain.failure(operation: "Wait") }
    #expect(try await TrialChain.waits { chain.underWay == 1 })
    let guilty = try #require(await chain.failure(operation: "Crash"))
    let innocent = try #require(await waiting.value)
    #expect(guilty.code == .crashed && guilty.message.contains("during this call"), "\(guilty)")
    #expect(innocent.code == .crashed && innocent.message.contains("during another call"), "\(innocent)")
    // CRB_ERROR_RETRYABLE
    #expect(guilty.flags & 1 == 0 && innocent.flags & 1 == 1, "\(guilty.flags), \(innocent.flags)")
    try openGate()
    try await chain.next(after: process)
    #expect(try await chain.result(operation: "Wait") == "server")
  }

  @Test("a worker is started again with the same bytes, although the file has changed", .rule("worker.14"))
  func sameBytes() async throws {
    let plugin = try await TrialChain.compile(into: folder)
    let chain = try TrialChain(plugin, [Entry(name: "p", action: "thread")])
    let process = chain.process
    try Data("this is not a plugin".utf8).write(to: URL(filePath: plugin))
    try #require(process != 0 && kill(process, SIGKILL) == 0)
    try await chain.next(after: process)
    #expect(Int(try await chain.result() ?? "") != nil)
  }

  @Test("a reload hands the state over, and after a crash it is lost", .rule("worker.54", "worker-test.40"))
  func state() async throws {
    let path = try await FixturePlugin.compile("state", into: folder)
    func chain(hang: String, replacing: HostedChain? = nil) throws -> TrialChain {
      TrialChain(
        try HostedChain(
          Manifest(
            text: """
              carabiner: 1
              plugins: [{name: p, file: \(path), config: {mode: ""}, isolation: {mode: worker, hang: \(hang)}}]
              chain: {graphql: [p]}
              """), replacing: replacing))
    }
    let first = try chain(hang: "1s")
    #expect(try await first.result() == "1")
    #expect(try await first.result() == "2")
    let second = try chain(hang: "2s", replacing: first.chain)
    #expect(second.process != first.process)
    #expect(try await second.result() == "3")
    let process = second.process
    try #require(process != 0 && kill(process, SIGKILL) == 0)
    try await second.next(after: process)
    #expect(try await second.result() == "1")
  }

  @Test("the launcher is started with the first worker, and has one thread", .rule("worker.9"))
  func launcher() async throws {
    let launcher = WorkerTrial.launcher()
    #expect(launcher.process == nil)
    let threads = try await offThePool {
      let stuck = try StuckWorker(launcher)
      defer { stuck.worker.signal(SIGKILL) }
      let starter = try #require(launcher.process)
      let children = FileHandle(forReadingAtPath: "/proc/\(starter)/task/\(starter)/children")
      let processes =
        String(decoding: try children?.readToEnd() ?? Data(), as: UTF8.self).split(separator: " ").map(String.init) + [
          "\(starter)"
        ]
      return try processes.map { try FileManager.default.contentsOfDirectory(atPath: "/proc/\($0)/task").count }
    }
    #expect(threads == [1, 1])
  }

  @Test("from one processor, all posts go to one lane, as long as it has room", .rule("worker.24a"))
  func oneLane() async throws {
    let plugin = try await TrialChain.compile(into: folder)
    let store = try StoreFolder()
    _ = try store.write(
      """
      carabiner: 1
      plugins: [{name: p, file: \(plugin), config: {do: thread}, isolation: {mode: worker, lanes: 4}}]
      chain: {graphql: [p]}
      """, to: "chain.yaml")
    let server = try ServeProcess(store, endpoint: "http://127.0.0.1:9/")
    // All threads of the gateway.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let processor = try #require(status.firstMatch(of: /Cpus_allowed_list:\s*(\d+)/)).1
    let pinned = try await ToolRun(URL(filePath: "/usr/bin/taskset"), ["-acp", "\(processor)", "\(server.processID)"])
    try #require(pinned.status == 0, "\(pinned)")
    let bodies = try (0..<50).map { _ in try server.query("{ hero { name } }").text }
    #expect(bodies.first?.contains(/"name":"\d+"/) == true, "\(bodies.first ?? "")")
    #expect(Set(bodies).count == 1, "\(Set(bodies))")
  }
}
