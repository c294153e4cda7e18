import Carabiner
import CarabinerBridge
import CarabinerWorkers
import Foundation
import Glibc
import TestTools
import Testing

/// Workers that break a rule of the protocol. Each has the turn of this name in Tests/Fixtures/Workers/hostile.c.
@Suite("A hostile worker")
struct HostileWorkerTests {
  /// A worker that breaks the protocol is not taken for one that hangs, however busy the machine is.
  private static let patient = ", hang: 1h, restart: {backoff: 1ms, maximum: 1ms, after: 1000}"
  private static let quick = ", hang: 1500ms, restart: {backoff: 1ms, maximum: 1ms, after: 1000}"

  /// The turns that end the worker with `protocol`, and what the host says about each.
  static let breaches = [
    ("begun-beyond", "posts by its own count"), ("begun-back", "posts by its own count"),
    ("running-far", "there is no such slot"), ("running-later", "and the host posted"),
    ("slot-not-under-way", "has the answer 5"), ("later-generation", "and the host asked for"),
    ("older-generation", "and the host asked for"), ("length-far", "outside of its memory"),
    ("block-far", "outside of its memory"), ("block-far-empty", "outside of its memory"), ("cut-record-1", "a record is cut"),
    ("cut-record-31", "a record is cut"), ("cut-record-32", "leads out of the message"),
    ("cut-record-39", "leads out of the message"), ("sum-of-lengths", "leads out of the message"),
    ("operation-0", "there is no edit 0"), ("operation-31", "there is no edit 31"), ("operation-65535", "there is no edit 65535"),
    ("header-cr", "is not permitted in on_request"), ("header-nul", "is not permitted"), ("header-no-name", "is not permitted"),
    ("header-long-name", "is not permitted"), ("part-not-in-mutates", "is not permitted"), ("two-parts", "is not permitted"),
    ("element-of-chunks", "is not permitted"), ("element-of-no-kind", "is not permitted"), ("65537-elements", "is not permitted"),
    ("no-json", "is not permitted"), ("half-an-error", "there is no edit"), ("half-a-head", "is not permitted"),
    ("unknown-key", "is not permitted"), ("retry-of-no-scope", "is not permitted"), ("callback-kind", "there is no callback 99"),
    ("callback-record", "that it cannot have"), ("callback-cut", "leads out of the message"),
    ("callback-far", "outside of its memory"), ("callback-fetch", "used fetch, which p is not granted"),
    ("callback-store", "used store, which p is not granted"), ("wake-ups", "woke the host more than"),
    ("saved-unasked", "slot 100 has the answer 3"), ("first-not-run", "passed over"), ("before-asked", "it broke the protocol"),
  ]

  @Test(
    "a worker that breaks a rule is killed, its call fails with protocol, and others go on",
    .rule("worker.20", "worker.21", "worker.23", "worker.27", "worker.48"),
    .rule(
      "worker-input.1", "worker-input.2", "worker-input.3", "worker-input.4", "worker-input.5", "worker-input.6",
      "worker-input.7", "worker-input.8", "worker-input.9", "worker-input.10", "worker-input.11", "worker-input.12",
      "worker-input.14", "worker-input.15", "worker-input.16", "worker-input.18", "worker-input.21", "worker-input.23"),
    arguments: breaches)
  func breach(turn: String, reason expected: String) async throws {
    let other = try await WorkerChain(turn: "none", isolation: Self.patient)
    let hostile = try await WorkerChain(turn: turn, isolation: Self.patient)
    let first = try hostile.process
    let failure = try await hostile.failure()
    let reason = try await hostile.reason(containing: expected)
    #expect(reason.hasPrefix("it broke the protocol: "))
    // The hook on_end has no result that could fail the call.
    if turn != "older-generation" { #expect(failure?.code == .brokeProtocol, "\(String(describing: failure))") }
    // A call that was sent again would harm the next process too.
    #expect(hostile.worker?.counts.sentAgain == 0)
    #expect(try await other.name() == "server")
    try await hostile.next(after: first)
  }

  @Test(
    "a crossing whose following stages have wrong answers, or none, ends the worker", .rule("worker-input.9"),
    arguments: [
      ("follower-cut", PluginError.Code.brokeProtocol, "leads out of the message"),
      ("follower-far", .brokeProtocol, "outside of its memory"), ("follower-later", .brokeProtocol, "and the host asked for"),
      ("no-followers", .hung, "on_request"),
    ])
  func followers(turn: String, code: PluginError.Code, reason: String) async throws {
    let hostile = try await WorkerChain(turn: turn, isolation: Self.quick, entries: ["p", "q"])
    #expect(try await hostile.failure()?.code == code)
    _ = try await hostile.reason(containing: reason)
  }

  @Test(
    "stages that are answered twice, or passed over, run as the chain says", .rule("worker-input.9"),
    arguments: ["none", "follower-twice", "follower-not-run"])
  func followersGoOn(turn: String) async throws {
    let hostile = try await WorkerChain(turn: turn, isolation: Self.patient, entries: ["p", "q", "r"])
    let first = try hostile.process
    for _ in 0..<3 { #expect(try await hostile.name() == "server") }
    #expect(try hostile.process == first)
  }

  @Test("a fetch with more fields than a worker takes is a breach too, with the grant", .rule("worker-input.18"))
  func fields() async throws {
    let hostile = try await WorkerChain(turn: "callback-fetch-headers", isolation: Self.patient, extra: ", grants: [fetch]")
    #expect(try await hostile.failure()?.code == .brokeProtocol)
    #expect(try await hostile.reason(containing: "that it cannot have").isEmpty == false)
  }

  /// The turns that end the worker otherwise.
  static let ends = [
    ("exit", PluginError.Code.crashed, "exit status 0"), ("signal", .crashed, "signal 11"), ("no-answer", .hung, "on_request"),
    ("untaken", .hung, "on_request"), ("stop", .hung, "on_request"), ("stop-in-hook", .hung, "on_request"),
    ("endless-hook", .hung, "on_request"), ("flipping-hook", .hung, "on_request"),
  ]

  @Test(
    "a worker that ends, stops or gives no answer fails its call, and another group goes on",
    .rule("worker.43", "worker.46", "worker-test.26"), arguments: ends)
  func end(turn: String, code: PluginError.Code, reason: String) async throws {
    let other = try await WorkerChain(turn: "none")
    let hostile = try await WorkerChain(turn: turn, isolation: Self.quick)
    let first = try hostile.process
    var failure = try await hostile.failure()
    // A call that was not begun is sent to the next worker. If that one comes late, the call is not available (`worker.52`, `worker.53`).
    for _ in 0..<100 where failure?.code == .unavailable { failure = try await hostile.failure() }
    #expect(failure?.code == code, "\(String(describing: failure))")
    _ = try await hostile.reason(containing: reason)
    #expect(try await other.name() == "server")
    try await hostile.next(after: first)
  }

  @Test(
    "a verdict that a hook cannot have is a fault of the plugin, and its worker lives",
    .rule("worker-input.13", "worker-test.7", "worker.27"),
    arguments: ["verdict-pending", "verdict-odd", "verdict-lost"])
  func verdict(turn: String) async throws {
    let hostile = try await WorkerChain(turn: turn)
    let first = try hostile.process
    for _ in 0..<3 { #expect(try await hostile.failure()?.code == .fault) }
    #expect(try hostile.process == first)
  }

  @Test(
    "requests of unknown instances, long lines, floods of lines and closed descriptors end no worker",
    .rule("worker.20", "worker.48", "worker-input.22"),
    arguments: ["stranger", "long-lines", "flood", "closed-descriptors"])
  func survivors(turn: String) async throws {
    let other = try await WorkerChain(turn: "none")
    let hostile = try await WorkerChain(turn: turn, isolation: ", hang: 1h")
    let first = try hostile.process
    for _ in 0..<3 { #expect(try await hostile.name() == "server") }
    #expect(try await other.name() == "server")
    #expect(try hostile.process == first)
  }

  @Test("a worker whose requests take its host long to check delays the calls of no other worker", .rule("worker.24e"))
  func heavyRequests() async throws {
    let other = try await WorkerChain(turn: "late")
    let hostile = try await WorkerChain(turn: "checks", isolation: Self.patient)
    #expect(try await hostile.name() == "server")
    #expect(try await other.name() == "server")
    // All came with one wake-up, and the host still checks some of them.
    #expect(hostile.worker?.counts.upcalls["check"] ?? 0 < 64)
  }

  @Test("the text of an error is cut before it is copied, and its worker lives", .rule("worker.48"))
  func largeError() async throws {
    let hostile = try await WorkerChain(turn: "large-error")
    let first = try hostile.process
    let failure = try #require(try await hostile.failure())
    #expect(failure.code == .fault && failure.message.contains("mmmm"), "\(failure.code)")
    #expect(failure.message.utf8.count < 5000)
    #expect(try hostile.process == first)
  }

  @Test("the host keeps no more of a worker's answers than the worker may have memory", .rule("worker.47"))
  func largeVariables() async throws {
    let hostile = try await WorkerChain(turn: "large-variables", isolation: ", hang: 1h, memory: 16MiB")
    let first = try hostile.process
    let failure = try #require(try await hostile.failure())
    #expect(failure.code == .failed && failure.message.contains("isolation: {memory}"), "\(failure)")
    #expect(try hostile.process == first)
  }

  /// A transport whose requests end only if they are cancelled.
  private final class HeldTransport: HTTPTransport {
    let (begun, ended) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())

    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      begun.continuation.yield()
      defer { ended.continuation.yield() }
      while true { try await Task.sleep(for: .seconds(3600)) }
    }
  }

  @Test(
    "the requests of a worker are cancelled when it ends, and when its instance ends", .rule("worker.49"),
    arguments: [true, false])
  func heldFetch(endsItself: Bool) async throws {
    let transport = HeldTransport()
    let environment = HostEnvironment(transport: transport, schedule: HostEnvironment.withoutLoop.schedule)
    let begun = transport.begun.stream
    do {
      let hostile = try await WorkerChain(
        turn: "held-fetch", isolation: Self.patient, extra: ", grants: [fetch]", environment: environment)
      #expect(try await hostile.name() == "server")
      _ = await begun.first { _ in true }
      if endsItself { #expect(kill(try hostile.process, SIGKILL) == 0) }
    }
    // Without the cancellation, this would wait for an hour.
    _ = await transport.ended.stream.first { _ in true }
  }

  @Test("the requests of an instance are cancelled when it ends, also if its worker goes on", .rule("worker.49"))
  func heldFetchOfEntry() async throws {
    let transport = HeldTransport()
    let environment = HostEnvironment(transport: transport, schedule: HostEnvironment.withoutLoop.schedule)
    var chain = try await WorkerChain(
      turn: "held-fetch", isolation: Self.patient, extra: ", grants: [fetch]", entries: ["p", "q"], environment: environment)
    #expect(try await chain.name() == "server")
    _ = await transport.begun.stream.first { _ in true }
    let process = try chain.process
    chain = try await WorkerChain(
      turn: "held-fetch", isolation: Self.patient, extra: ", grants: [fetch]", replacing: chain, environment: environment)
    // The worker asks for the instance that it created last, which is that of q.
    _ = await transport.ended.stream.first { _ in true }
    #expect(try chain.process == process)
  }

  @Test("an answer that changes after it was given changes nothing", .rule("worker.21"))
  func twice() async throws {
    let hostile = try await WorkerChain(turn: "twice", isolation: Self.quick)
    for _ in 0..<20 {
      // The host copies an answer once, at any moment. After a breach, the next worker may not be there in time.
      let failure = try await hostile.failure()
      let code = failure?.code
      #expect(
        code == nil || [.brokeProtocol, .fault, .failed, .crashed, .hung, .unavailable].contains(code),
        "\(String(describing: failure))")
    }
  }

  @Test("threads that write noise into all memory of the worker harm only its own calls", .rule("worker-input.17"))
  func noise() async throws {
    let other = try await WorkerChain(turn: "none")
    let hostile = try await WorkerChain(turn: "noise", isolation: Self.quick)
    for _ in 0..<10 {
      _ = try await hostile.failure()
      #expect(try await other.name() == "server")
    }
  }

  @Test("a hook that is pending for ever fails at its timeout, and its worker lives", .rule("worker.29", "worker-test.11"))
  func pending() async throws {
    let hostile = try await WorkerChain(turn: "pending-for-ever", extra: ", timeout: 100ms")
    let first = try hostile.process
    #expect(try await hostile.failure()?.code == .timedOut)
    #expect(try hostile.process == first)
  }

  // MARK: Start

  @Test(
    "a worker that does not come up refuses the manifest", .rule("worker-input.19", "worker-input.24"),
    arguments: [
      ("gone", "ended before it was ready"), ("crash-load", "signal 6"), ("crash-create", "signal 11"),
      ("other-id", "its note says org.carabiner.test.crash"), ("many-interceptors", "unexpected record"),
      ("stage-kind", "unexpected record"), ("strange-record", "unexpected record"), ("cut-table", "protocol"),
      ("far-load", "outside of its memory"), ("pending-load", "is pending"),
    ])
  func start(turn: String, reason: String) async throws {
    let error = await #expect(throws: HostError.self) { _ = try await WorkerChain(turn: turn) }
    #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
  }

  @Test("a worker that is not ready within 5 s refuses the manifest", .rule("worker-input.24"))
  func silent() async throws {
    let error = await #expect(throws: HostError.self) { _ = try await WorkerChain(turn: "silent") }
    #expect(error?.message.contains("was not ready within 5 s") == true, "\(String(describing: error))")
  }

  @Test(
    "a worker that registers another table after a restart is not used, and calls get 503", .rule("worker-input.19", "worker.53"))
  func otherTable() async throws {
    let hostile = try await WorkerChain(turn: "other-table")
    #expect(try await hostile.name() == "server")
    #expect(kill(try hostile.process, SIGKILL) == 0)
    _ = try await hostile.reason(containing: "another table than before")
    let failure = try await hostile.failure()
    #expect(failure?.code == .unavailable && failure?.refusalStatus == 503, "\(String(describing: failure))")
  }

  @Test("a worker that crashes at each restart opens the circuit", .rule("worker.51", "worker-test.34"))
  func crashesAtRestarts() async throws {
    let hostile = try await WorkerChain(turn: "crash-later-creates", isolation: ", restart: {backoff: 1ms, maximum: 1ms}")
    #expect(try await hostile.name() == "server")
    #expect(kill(try hostile.process, SIGKILL) == 0)
    let until = try await hostile.until("an open circuit") { if case .open(until: let time) = $0.condition { time } else { nil } }
    #expect(until > 0)
    #expect(try await hostile.failure()?.code == .unavailable)
  }

  @Test(
    "a worker that takes long to start again does not delay the starts of others", .rule("worker.52"),
    arguments: ["hang-later-creates", "silent-later"])
  func slowRestarts(turn: String) async throws {
    let slow = [try await WorkerChain(turn: turn), try await WorkerChain(turn: turn), try await WorkerChain(turn: turn)]
    let other = try await WorkerChain(turn: "none")
    for chain in slow { #expect(kill(try chain.process, SIGKILL) == 0) }
    for chain in slow { _ = try await chain.until("a start") { $0.condition == .starting ? true : nil } }
    let first = try other.process
    #expect(kill(first, SIGKILL) == 0)
    try await other.next(after: first)
    #expect(try await other.name() == "server")
    for chain in slow { #expect(chain.worker?.condition != .up) }
  }

  // MARK: State and end

  @Test(
    "a state that is too long, or not in the memory, is not handed over, and ends the worker", .rule("worker-input.20"),
    arguments: [
      ("large-state", "a state has 16777217 bytes"), ("far-state", "outside of its memory"), ("strange-state", "has a record"),
    ])
  func state(turn: String, reason: String) async throws {
    let hostile = try await WorkerChain(turn: turn)
    let later = try await WorkerChain(turn: turn, replacing: hostile, config: "{a: 1}")
    #expect(try await later.name() == "server")
    _ = try await hostile.reason(containing: reason)
  }

  @Test("a worker that does not end at SHUTDOWN is killed", .rule("worker.56"))
  func shutdown() async throws {
    let process = try await { try await WorkerChain(turn: "no-shutdown").process }()
    #expect(await eventually { kill(process, 0) != 0 })
  }
}
