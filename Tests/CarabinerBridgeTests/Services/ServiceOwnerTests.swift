import Carabiner
import CarabinerManifest
import Foundation
import Synchronization
import TestTools
import Testing

@testable import CarabinerBridge
@testable import CarabinerProvider

/// Services belong to the plugin and to the generation that they were granted to.
@Suite("The owners of a host's services")
struct ServiceOwnerTests {
  private let plugins: HostedPlugins

  init() throws { plugins = try HostedPlugins() }

  /// An environment whose network responds with a fixed text, and which counts timers.
  private final class TimerCounter: Sendable {
    private let counts = Mutex((armed: 0, cancelled: 0))

    func environment(_ answer: String) -> HostEnvironment {
      HostEnvironment(transport: AnsweringTransport(body: answer)) { [self] delay, body in
        counts.withLock { $0.armed += 1 }
        let cancel = HostEnvironment.withoutLoop.schedule(delay, body)
        return { [self] in
          counts.withLock { $0.cancelled += 1 }
          cancel()
        }
      }
    }

    var armed: Int { counts.withLock(\.armed) }
    /// The number of timers that were armed and not cancelled.
    var left: Int { counts.withLock { $0.armed - $0.cancelled } }
  }

  private func file() async throws -> String {
    let number = UInt32.random(in: 1...(.max))
    return try await FixturePlugin.compile(
      "services", defining: ["UNIQUE=\(number)"], into: plugins.folder, name: "services-\(number).so")
  }

  private func chain(
    _ entries: String, _ lists: String, environment: HostEnvironment = .withoutLoop, replacing predecessor: HostedChain? = nil
  ) throws -> HostedChain {
    try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          plugins:
          \(entries)
          chain: {graphql: [\(lists)]}
          """), environment: environment, replacing: predecessor)
  }

  private func entry(_ name: String, _ file: String, _ mode: String, extra: String = "") -> String {
    "  - {name: \(name), file: \(file), config: {mode: \(mode), url: \"http://127.0.0.1:1/\"}\(extra)}\n"
  }

  // MARK: Ids

  @Test("an id cannot be guessed, even if the service was granted to another plugin")
  func guessing() async throws {
    let (granted, other) = try await (file(), file())
    let chain = try chain(
      entry("granted", granted, "pass", extra: ", grants: [fetch]") + entry("guesser", other, "guess"), "granted, guesser")
    #expect(try await HostedPlugins.name(chain) == "found 0")
  }

  @Test("an id does not work in a hook of another library")
  func borrowing() async throws {
    let (granted, other) = try await (file(), file())
    let chain = try chain(
      entry("granted", granted, "lend", extra: ", grants: [fetch]") + entry("borrower", other, "borrow"), "granted, borrower")
    #expect(try await HostedPlugins.name(chain) == "query 0, timer 0, buffer 0")
  }

  @Test("two instances of one library may use each other's ids, as they share their memory anyway")
  func sharing() async throws {
    let file = try await file()
    let chain = try chain(
      entry("granted", file, "lend", extra: ", grants: [fetch]") + entry("sibling", file, "borrow"), "granted, sibling")
    #expect(try await HostedPlugins.name(chain) == "query 1, timer 1, buffer 1")
  }

  @Test("ids of instances that are gone are used up slowly, and their slots are used again")
  func slots() throws {
    let subject = CrashSubject(entry: "p", file: "p", digest: "p", generation: 1)
    let registry = PluginRegistry()
    let ids = (0..<200_000).map { number in
      let id = registry.register(PluginInstance.Options(name: "\(number)"), subject: subject, library: "p")
      registry.retire(id)
      return id
    }
    #expect(Set(ids).count == ids.count && !ids.contains(0))
    #expect(registry.caller(ids[0]) == nil)
    #expect(registry.caller(ids[199_999])?.name == "199999")
  }

  // MARK: Generations

  @Test("a plugin fetches by the network of the generation it was made in, before, during and after another one")
  func generations() async throws {
    let file = try await file()
    let fetcher = entry("fetcher", file, "fetch", extra: ", grants: [fetch]")
    let first = try chain(fetcher, "fetcher", environment: TimerCounter().environment("first"))
    #expect(try await HostedPlugins.name(first) == "first")
    do {
      let second = try chain(fetcher, "fetcher", environment: TimerCounter().environment("second"), replacing: first)
      #expect(try await HostedPlugins.name(second) == "second")
      #expect(try await HostedPlugins.name(first) == "first")
    }
    #expect(try await HostedPlugins.name(first) == "first")
  }

  // MARK: Timers

  @Test("timers that are cancelled are given back at once")
  func timers() async throws {
    let counter = TimerCounter()
    let chain = try chain(
      entry("p", try await file(), "timers"), "p", environment: counter.environment(""))
    #expect(try await HostedPlugins.name(chain) == "cancelled 10000")
    #expect(counter.armed >= 10_000)
    #expect(counter.left == 0)
  }

  @Test("a hook that is resumed leaves no timer behind, however long its entry would let it wait")
  func hookTimeout() async throws {
    let counter = TimerCounter()
    let chain = try chain(
      entry("p", try await file(), "own-timer", extra: ", timeout: 1h"), "p", environment: counter.environment(""))
    for _ in 0..<5 { #expect(try await HostedPlugins.name(chain) == "fired") }
    // Each timer of the plugin has fired, and those of the host are cancelled.
    #expect(counter.left <= 5)
  }

  // MARK: Buffers

  @Test(
    "buffers are counted against the plugin that holds them",
    arguments: [("", "255 then 255"), (", maximum-buffers: 8MiB", "7 then 7")])
  func quota(extra: String, answer: String) async throws {
    let chain = try chain(entry("p", try await file(), "quota", extra: extra), "p")
    #expect(try await HostedPlugins.name(chain) == answer)
  }
}
