import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("Handing over a plugin's state (crb.state/1)")
struct StateTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private func chain(_ mode: String = "", version: Int = 1, threads: String = "CRB_THREADS_CONCURRENT") async throws
    -> HostedChain
  {
    let path = try await FixturePlugin.compile(
      "state", defining: ["STATE_VERSION=\(version)", "THREADS=\(threads)"], into: folder, name: "state-\(UUID().uuidString).so")
    return try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          plugins: [{name: p, file: \(path), config: {mode: "\(mode)"}}]
          chain: {graphql: [p]}
          """))
  }

  private func instance(
    _ mode: String = "", version: Int = 1, threads: String = "CRB_THREADS_CONCURRENT"
  ) async throws -> PluginInstance {
    try #require(await chain(mode, version: version, threads: threads).instance(of: "p"))
  }

  /// The answer of the plugin's stage to a call.
  private func call(_ chain: HostedChain) async throws -> String {
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: chain, endpointURL: url, httpTransport: AnsweringTransport()))
    var answers: [String] = []
    for try await result in try client.results(of: DynamicOperation(document: "{ count name }"), cachePolicy: .networkOnly) {
      let data = try #require(try result.data)
      answers.append("\(data["count"]?.description ?? "-") \(data["name"]?.string ?? "-")")
    }
    return answers.joined(separator: ", ")
  }

  private static func bytes(_ count: UInt64, _ name: String? = nil) -> [UInt8] {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    return number + (name.map { [UInt8($0.utf8.count)] + Array($0.utf8) } ?? [])
  }

  /// The error of a refused operation.
  private func refusal(_ body: () throws -> Void) -> PluginError? {
    do {
      try body()
      return nil
    } catch {
      return error as? PluginError
    }
  }

  @Test("the next instance continues the count of the previous one, with different versions")
  func handOver() async throws {
    let old = try await chain()
    #expect(try await call(old) == "1 one")
    #expect(try await call(old) == "2 one")
    let state = try #require(try old.instance(of: "p")?.state())
    #expect(state == PluginState(version: 1, bytes: Self.bytes(2)))
    // First the same version in another file, then a newer version that can read the old state.
    for version in [1, 2] {
      let new = try await chain(version: version)
      #expect(try new.instance(of: "p")?.adopt(state: state) == true)
      #expect(try await call(new) == "3 \(version == 1 ? "one" : "two")")
    }
    // The old instance continues with its own state.
    #expect(try await call(old) == "3 one")
  }

  @Test("a newer layout arrives whole")
  func newerLayout() async throws {
    let old = try await instance(version: 2)
    try old.adopt(state: PluginState(version: 2, bytes: Self.bytes(40, "another name")))
    let state = try #require(try old.state())
    #expect(state == PluginState(version: 2, bytes: Self.bytes(40, "another name")))
    let new = try await instance(version: 2)
    try new.adopt(state: state)
    let handedOn = try new.state()
    #expect(handedOn == state)
  }

  @Test("an older plugin refuses what a newer one hands over, and works without")
  func downgrade() async throws {
    let state = try #require(try await instance(version: 2).state())
    let older = try await chain()
    let instance = try #require(older.instance(of: "p"))
    let refusal = try #require(refusal { try instance.adopt(state: state) })
    #expect(refusal.code == .failed)
    #expect(refusal.hook == "adopt")
    #expect(refusal.pluginCode == 42)
    #expect(refusal.message.contains("a newer version wrote this state"))
    #expect(try await call(older) == "1 one")
  }

  @Test(
    "bytes that are not a valid state are refused and change nothing",
    arguments: [
      (1, []), (1, [1, 2, 3]), (1, bytes(9) + [0]), (2, bytes(9)), (2, bytes(9) + [200]), (2, bytes(9) + [5, 1, 2]),
      (2, bytes(9) + [64] + [UInt8](repeating: 65, count: 64)), (0, bytes(9)), (.max, bytes(9)),
      (2, [UInt8](repeating: 255, count: 1 << 16)),
    ] as [(UInt32, [UInt8])])
  func damaged(version: UInt32, bytes: [UInt8]) async throws {
    let new = try await instance(version: 2)
    let before = try #require(try new.state())
    #expect(refusal { try new.adopt(state: PluginState(version: version, bytes: bytes)) }?.code == .failed)
    #expect(try new.state() == before)
  }

  @Test(
    "anything but a state of at most CRB_STATE_MAX_BYTES is a fault of the plugin",
    arguments: [
      ("garbage", "never was"), ("released", "never was"), ("length", "more than CRB_STATE_MAX_BYTES"),
      ("large", "more than CRB_STATE_MAX_BYTES"),
    ])
  func faults(mode: String, message: String) async throws {
    let instance = try await instance(mode)
    let refusal = try #require(refusal { _ = try instance.state() })
    #expect(refusal.code == .fault)
    #expect(refusal.hook == "save")
    #expect(refusal.message.contains(message))
  }

  @Test("a state may have as many bytes as the header says, or none", arguments: ["full", "empty", "none"])
  func sizes(mode: String) async throws {
    let state = try #require(try await instance(mode).state())
    #expect(state.bytes.count == (mode == "full" ? PluginState.maximumBytes : 0))
    #expect(state.bytes.allSatisfy { $0 == 7 })
    if mode != "full" { #expect(try await instance(mode).adopt(state: state)) }
  }

  @Test("a plugin may refuse to hand over, with a reason or without", arguments: ["refuse", "mute", "failing"])
  func refusesToSave(mode: String) async throws {
    let instance = try await instance(mode)
    let refusal = try #require(refusal { _ = try instance.state() })
    #expect(refusal.code == .failed)
    #expect(refusal.message.contains(mode == "refuse" ? "a secret-word prevents this" : "it gave no reason (status"))
  }

  @Test(
    "a plugin without the table, or with an instance for each call, hands over nothing",
    arguments: ["without", "nothing", "per call"])
  func nothing(mode: String) async throws {
    let threads = mode == "per call" ? "CRB_THREADS_PER_CALL" : "CRB_THREADS_CONCURRENT"
    let instance = try await instance(mode, threads: threads)
    #expect(try instance.state() == nil)
    #expect(try instance.adopt(state: PluginState(version: 1, bytes: Self.bytes(1))) == (mode == "nothing"))
  }

  @Test("a function beyond the table's size is not there")
  func shorterTable() async throws {
    let instance = try await instance("shorter")
    #expect(try instance.state()?.version == 1)
    #expect(try !instance.adopt(state: PluginState(version: 1, bytes: Self.bytes(1))))
  }

  @Test("a status the header does not know is a refusal")
  func unknownStatus() async throws {
    let instance = try await instance("odd")
    #expect(refusal { try instance.adopt(state: PluginState(version: 1, bytes: Self.bytes(1))) }?.pluginCode == 7)
  }

  @Test(
    "a SERIAL plugin is asked while none of its hooks runs, a CONCURRENT one beside them", arguments: ["SERIAL", "CONCURRENT"])
  func threads(threads: String) async throws {
    let chain = try await chain(threads: "CRB_THREADS_\(threads)")
    let instance = try #require(chain.instance(of: "p"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          let count = try instance.state()?.bytes.count
          #expect(count == 8)
        }
        group.addTask {
          let answer = try await call(chain)
          #expect(answer.hasSuffix(" one"))
        }
      }
      try await group.waitForAll()
    }
    #expect(try instance.state()?.bytes == Self.bytes(16))
  }

  @Test("no message shows a secret of the configuration")
  func redaction() async throws {
    let path = try await FixturePlugin.compile("state", into: folder, name: "secret.so")
    let library = try PluginLibrary.load(path: path)
    var options = PluginInstance.Options(name: "p")
    options.configuration = #"{"mode": "refuse"}"#
    options.redaction = SecretRedaction().hiding("secret-word", behind: "${WORD}")
    let instance = try PluginInstance(library.interceptor(nil), library: library, options: options)
    let refusal = try #require(refusal { _ = try instance.state() })
    #expect(!refusal.message.contains("secret-word"))
    #expect(refusal.message.contains("prevents this"))
  }
}
