import CarabinerHost
import CarabinerPipeline
import CarabinerPipelineSockets
import Foundation
import ScriptedServer
import ScriptedSocket
import TestTools
import Testing

@Suite("Plugins of a manifest over a WebSocketTransport of 0.3x", .timeLimit(.minutes(5)))
struct ManifestStageTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// The stages of a manifest with the plugin parts, which is written in C.
  private func stages(mode: String, lists: String, _ server: ScriptedServer) async throws -> ManifestProvider {
    _ = try await FixturePlugin.compile("parts", into: folder, name: "parts.so")
    _ = try await FixturePlugin.compile("stamp", defining: ["STAMP=\"one\""], into: folder, name: "stamp.so")
    let manifest = folder.file("chain.yaml")
    try Data(
      """
      carabiner: 1
      endpoint: \(server.origin)
      plugins:
        - {name: parts, file: parts.so, config: {mode: \(mode)}}
        - {name: stamp, file: stamp.so}
      chain: {\(lists)}
      """.utf8
    ).write(to: manifest)
    return try await ManifestProvider(manifest: manifest.path)
  }

  /// The stored count of a subscription, or the error.
  private func stored(_ store: ApolloStore) async -> String? {
    let call = Call()
    store.load(Count(), callbackQueue: .global()) { call.add($0) }
    return await call.words(1).first
  }

  @Test(
    "a plugin in C drops every second result of a subscription, and only the others reach the store and the handler",
    .rule("legacy.14"))
  func drops() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      for count in 1...6 { try socket.data(id, count) }
      try socket.readToEnd()
    }
    let stages = try await stages(mode: "drop-every-second", lists: "graphql: [parts]", server)
    let store = ApolloStore()
    let transport = WebSocketTransport(request: URLRequest(url: server.socketURL), store: store, stages: stages)
    let call = transport.start(Count()).call
    #expect(await call.words(3) == ["1", "3", "5"])
    #expect(await stored(store) == "5")
    #expect(transport.skippedStages.isEmpty)
  }

  @Test("a query passes the plugin too, and the result that the plugin makes is that of the call", .rule("legacy.14"))
  func replaces() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.answerAll()
    }
    let stages = try await stages(mode: "describe", lists: "graphql: [parts]", server)
    let transport = WebSocketTransport(request: URLRequest(url: server.socketURL), stages: stages)
    let call = Call()
    _ = transport.send(operation: Described(), callbackQueue: .global()) { call.add($0) }
    let words = await call.words(1)
    #expect(words.first?.contains(#""seq":0"#) == true, "\(words)")
  }

  @Test("an HTTP stage of the manifest is warned about once by its name, and does not run", .rule("legacy.14"))
  func warning() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.answerAll()
    }
    let stages = try await stages(mode: "pass", lists: "graphql: [parts], http: [stamp, response-code]", server)
    let transport = WebSocketTransport(request: URLRequest(url: server.socketURL), stages: stages)
    for count in 1...2 { #expect(await transport.start(CountQuery()).call.words(1) == ["\(count)"]) }
    #expect(transport.skippedStages == ["stamp"])
  }
}

/// A query whose result is any JSON.
private struct Described: GraphQLQuery {
  typealias Data = JSONValue

  var operationName: String? { "Described" }
  var document: String { "query Described { count }" }
}
