import Carabiner
import CarabinerABI
import CarabinerManifest
import Foundation
import Synchronization
import TestTools
import Testing

@testable import CarabinerBridge
@testable import CarabinerProvider

/// A clock that only the test advances.
final class StandingClock: Sendable {
  private let time = Atomic<UInt64>(1_000_000_000)

  var nanoseconds: UInt64 { time.load(ordering: .relaxed) }

  func advance(_ seconds: UInt64) { time.wrappingAdd(seconds * 1_000_000_000, ordering: .relaxed) }
}

@Suite("A plugin that keeps breaking the contract is left out until it works again")
struct CircuitBreakerTests {
  private let plugins: HostedPlugins
  private let clock = StandingClock()

  init() throws { plugins = try HostedPlugins() }

  private func chain(
    faults: Int, kind: String = "verdict", onFault: String = "open-after-3", extra: String = "",
    lists: String = "{graphql: [p]}"
  ) async throws -> HostedChain {
    let path = try await FixturePlugin.compile("faults", into: plugins.folder)
    return try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          settings: {breaker-cool-down: 10s, cancel-grace: 10ms}
          plugins:
            - {name: p, file: \(path), config: {faults: \(faults), kind: \(kind)}, on-fault: \(onFault)\(extra)}
          chain: \(lists)
          """), clock: { [clock] in clock.nanoseconds })
  }

  private func outcome(_ chain: HostedChain, _ transport: AnsweringTransport = AnsweringTransport()) async throws -> String? {
    do {
      return try await HostedPlugins.name(chain, transport)
    } catch let error as PluginError {
      return error.code.rawValue
    }
  }

  private func status(_ chain: HostedChain) throws -> CircuitBreaker.Status {
    try #require(chain.entries().first?.breaker)
  }

  @Test("it fails requests until the breaker opens, is passed over, tried once after the cool-down, and used again once it works")
  func cycle() async throws {
    let chain = try await chain(faults: 4)
    for count in 1...3 {
      #expect(try status(chain).phase == .closed)
      #expect(try await outcome(chain) == "fault")
      #expect(try status(chain).consecutiveFaults == count)
    }
    #expect(try status(chain) == CircuitBreaker.Status(.open, faults: 3, of: 3, left: .seconds(10)))
    #expect(try await outcome(chain) == "server")
    clock.advance(9)
    #expect(try status(chain).coolDownLeft == .seconds(1))
    #expect(try await outcome(chain) == "server")
    clock.advance(1)
    // The probe request gets the fourth fault and continues without the plugin.
    #expect(try await outcome(chain) == "call 4")
    #expect(try status(chain) == CircuitBreaker.Status(.open, faults: 4, of: 3, left: .seconds(10)))
    #expect(try await outcome(chain) == "server")
    clock.advance(10)
    #expect(try await outcome(chain) == "call 5")
    #expect(try status(chain) == CircuitBreaker.Status(.closed, faults: 0, of: 3, left: nil))
    #expect(try await outcome(chain) == "call 6")
    #expect(chain.entries().first?.faults == 4)
  }

  @Test("a breaker that is gone while it is not closed holds up no request", arguments: [false, true])
  func gone(isHalfOpen: Bool) {
    let board = BreakerRegistry { [clock] in clock.nanoseconds }
    var breaker: CircuitBreaker? = CircuitBreaker(entry: "p", threshold: 1, coolDown: .seconds(10), board: board)
    breaker?.noteFault(nil)
    #expect(!board.areAllClosed)
    clock.advance(isHalfOpen ? 10 : 9)
    _ = breaker?.admission()
    breaker = nil
    #expect(board.areAllClosed)
  }

  @Test("one request at a time tries it; the others go without it meanwhile")
  func oneProbe() async throws {
    let chain = try await chain(faults: 3)
    for _ in 1...3 { _ = try await outcome(chain) }
    clock.advance(10)
    let slow = AnsweringTransport(isHeld: true)
    async let probe = outcome(chain, slow)
    while slow.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try status(chain).phase == .halfOpen)
    for _ in 1...3 { #expect(try await outcome(chain) == "server") }
    slow.release()
    #expect(try await probe == "call 4")
    #expect(try status(chain).phase == .closed)
  }

  @Test("a probe that takes longer than the cool-down does not block other probes, and its result is ignored")
  func lateProbe() async throws {
    let chain = try await chain(faults: 3)
    for _ in 1...3 { _ = try await outcome(chain) }
    clock.advance(10)
    let slow = AnsweringTransport(isHeld: true)
    async let probe = outcome(chain, slow)
    while slow.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    clock.advance(10)
    #expect(try await outcome(chain) == "call 5")
    #expect(try status(chain).phase == .closed)
    slow.release()
    #expect(try await probe == "call 5")
  }

  @Test("a probe that never reached the plugin leaves the next request as the probe")
  func abandoned() async throws {
    let chain = try await chain(faults: 3, lists: "{parsing: [p]}")
    for _ in 1...3 { #expect(try await outcome(chain) == "fault") }
    clock.advance(10)
    // There is no response, so no parser runs.
    let cancelled = Task { [chain] in
      try await HostedPlugins.name(chain, AnsweringTransport(isHeld: true))
    }
    while try status(chain).phase != .halfOpen { try await Task.sleep(for: .milliseconds(1)) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    while try status(chain).phase == .halfOpen { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try status(chain) == CircuitBreaker.Status(.open, faults: 3, of: 3, left: .zero))
    // The fixture's parser declines if it works, and there is no other parser.
    await #expect(throws: ResponseParsingError.self) { try await outcome(chain) }
    #expect(try status(chain).phase == .closed)
  }

  @Test("faults with a good call in between are not in a row")
  func notInARow() async throws {
    let chain = try await chain(faults: 2)
    #expect(try await outcome(chain) == "fault")
    #expect(try await outcome(chain) == "fault")
    #expect(try status(chain).consecutiveFaults == 2)
    #expect(try await outcome(chain) == "call 3")
    #expect(try status(chain).consecutiveFaults == 0)
  }

  @Test("a parser and a cache that are left out leave the work to what is built in", arguments: ["parsing", "cache"])
  func others(list: String) async throws {
    let chain = try await chain(faults: 9, lists: "{\(list): [p]}")
    for _ in 1...3 {
      do {
        for try await _ in try HostedPlugins.client(chain).results(of: HostedPlugins.operation, cachePolicy: .cacheFirst) {}
      } catch let error as PluginError {
        #expect(error.code == .fault)
      }
    }
    #expect(try status(chain).phase == .open)
    #expect(try await outcome(chain) == "server")
  }

  @Test(
    "a hook that takes too long is a fault, and a stage that is skipped on fault is skipped",
    arguments: ["skip", "open-after-1"])
  func timeouts(policy: String) async throws {
    let chain = try await chain(faults: 1, kind: "hang", onFault: policy, extra: ", timeout: 20ms")
    #expect(try await outcome(chain) == (policy == "skip" ? "call 1" : "timedOut"))
    #expect(chain.entries().first?.faults == 1)
    #expect(try await outcome(chain) == (policy == "skip" ? "call 2" : "server"))
  }

  @Test("a FAIL is an answer and no fault")
  func failures() async throws {
    let chain = try await chain(faults: 5, kind: "fail")
    for _ in 1...5 { #expect(try await outcome(chain) == "failed") }
    #expect(try status(chain) == CircuitBreaker.Status(.closed, faults: 0, of: 3, left: nil))
    #expect(chain.entries().first?.faults == 0)
    #expect(try await outcome(chain) == "call 6")
  }

  @Test("a mandatory plugin is never passed over: while its breaker is open its requests fail at once, with what to do")
  func mandatory() async throws {
    let chain = try await chain(faults: 4, extra: ", mandatory: true")
    for _ in 1...3 { #expect(try await outcome(chain) == "fault") }
    let transport = AnsweringTransport()
    let error = await #expect(throws: PluginError.self) { try await HostedPlugins.name(chain, transport) }
    #expect(error?.code == .circuitOpen)
    #expect(error?.entry == "p")
    #expect(error?.message.contains("look for its faults in the log and fix or replace it") == true)
    #expect(transport.requests.isEmpty)
    clock.advance(10)
    #expect(try await outcome(chain) == "fault")
    #expect(try await outcome(chain) == "circuitOpen")
    clock.advance(10)
    #expect(try await outcome(chain) == "call 5")
    #expect(try await outcome(chain) == "call 6")
  }

  @Test("the entries show the state of each plugin")
  func entries() async throws {
    let path = try await FixturePlugin.compile("faults", into: plugins.folder)
    let chain = try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          plugins:
            - {name: p, file: \(path), on-fault: open-after-7, mandatory: true}
            - {name: off, file: \(path), enabled: false}
            - name: crc
              ffi: {library: libz.so.1, function: crc32, returns: u64, header: X-CRC, arguments: [{type: u64, value: 0},
                    {type: pointer, from: body}, {type: u32, from: body-length}]}
          chain: {graphql: [p], http: [crc, response-code]}
          rules: [{when: {type: mutation}, chain: {cache: [off]}}]
          """))
    let transport = AnsweringTransport(isHeld: true)
    async let underWay = HostedPlugins.name(chain, transport)
    while transport.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(chain.entries().first?.callsInFlight == 1)
    transport.release()
    #expect(try await underWay == "call 1")
    _ = try await HostedPlugins.name(chain)
    // The last count of the call is removed together with the task that waited for it.
    while chain.entries().first?.callsInFlight != 0 { try await Task.sleep(for: .milliseconds(1)) }
    let entries = chain.entries()
    #expect(entries.map(\.name) == ["p", "off", "crc"])
    #expect(entries.map(\.origin) == [.plugin, .plugin, .ffi])
    #expect(entries.map(\.path) == [path, path, "libz.so.1"])
    #expect(entries.map(\.id) == ["org.carabiner.test.faults", nil, "crc32"])
    #expect(entries.map(\.version) == ["1.2.3", nil, nil])
    #expect(entries.map { $0.digest?.count } == [64, nil, nil])
    #expect(entries.map(\.lists) == [[.graphQL], [.cache], [.http]])
    #expect(entries.map(\.isEnabled) == [true, false, true])
    #expect(entries.map(\.isMandatory) == [true, false, false])
    #expect(entries.map(\.decision?.source) == [nil, .manifest, nil])
    #expect(entries.map(\.breaker?.threshold) == [7, nil, nil])
    #expect(entries.map(\.callsBegun) == [2, 0, 0])
    #expect(entries.map(\.faults) == [0, 0, 0])
  }
}

extension CircuitBreaker.Status {
  fileprivate init(_ phase: CircuitBreaker.Phase, faults: Int, of threshold: Int, left: Duration?) {
    self.init(phase: phase, consecutiveFaults: faults, threshold: threshold, coolDownLeft: left)
  }
}
