import Carabiner
import CarabinerManifest
import CarabinerProvider
import Foundation
import TestTools
import Testing

@Suite("Plugins see the results of a response in parts one by one")
struct PartsTests {
  private struct PartsTransport: HTTPTransport {
    let contentType: String
    let chunks: [String]

    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      HTTPResponse(
        response: Carabiner.HTTPURLResponse(url: request.url, statusCode: 200, headers: ["Content-Type": contentType]),
        chunks: PullStream(elements: chunks.map { Data($0.utf8) }))
    }
  }

  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private static let deferred = PartsTransport(
    contentType: "multipart/mixed; boundary=b; deferSpec=20220824",
    chunks: [
      "--b\r\n\r\n{\"data\":{\"hero\":{}},\"hasNext\":true}\r\n--b",
      "\r\n\r\n{\"incremental\":[{\"path\":[\"hero\"],\"label\":\"L\",\"data\":{\"name\":\"R2\"}}],\"hasNext\":true}\r\n--b",
      "\r\n\r\n{\"incremental\":[{\"path\":[\"hero\"],\"data\":{\"a\":1}},{\"path\":[],\"data\":{\"b\":2}}],\"hasNext\":false}\r\n--b--",
    ])

  private static let subscription = PartsTransport(
    contentType: "multipart/mixed; boundary=b; subscriptionSpec=1.0",
    chunks: [
      "--b\r\n\r\n{\"payload\":{\"data\":{\"n\":1}}}\r\n--b\r\n\r\n{}\r\n--b",
      "\r\n\r\n{\"payload\":{\"data\":{\"n\":2}}}\r\n--b\r\n\r\n{\"payload\":{\"data\":{\"n\":3}}}\r\n--b--",
    ])

  private func results(
    _ mode: String, _ transport: PartsTransport, chain: String = "graphql: [p]", type: GraphQLOperationType = .query
  ) async throws -> (texts: [String], hasNext: [Bool]) {
    try await results(mode, transport, chain: chain, type: type, plugin: FixturePlugin.compile("parts", into: folder))
  }

  private func results(
    _ mode: String, _ transport: PartsTransport, chain: String = "graphql: [p]", type: GraphQLOperationType = .query,
    plugin path: String, describing: Bool = false
  ) async throws -> (texts: [String], hasNext: [Bool]) {
    let describer =
      describing
      ? "\n  - {name: d, file: \(try await FixturePlugin.compile("parts", into: folder)), config: {mode: describe}}" : ""
    let manifest = try Manifest(
      text: "carabiner: 1\nplugins:\n  - {name: p, file: \(path), config: {mode: \(mode)}}\(describer)\nchain: {\(chain)}")
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: try HostedChain(manifest), endpointURL: url, httpTransport: transport))
    let operation = DynamicOperation(document: "\(type.rawValue) { hero }", operationName: nil, operationType: type)
    var found: (texts: [String], hasNext: [Bool]) = ([], [])
    for try await response in try client.results(of: operation, cachePolicy: .networkOnly) {
      found.texts.append(String(decoding: response.body.bytes, as: UTF8.self))
      found.hasNext.append(response.hasNext)
    }
    return found
  }

  @Test("crb_result says whether more follow, what is incremental, and where one patch belongs", .rule("multipart.4"))
  func described() async throws {
    let found = try await results("describe", Self.deferred)
    #expect(
      found.texts == [
        #"{"data":{"seq":0,"next":1,"incremental":0,"path":null,"label":""}}"#,
        #"{"data":{"seq":1,"next":1,"incremental":1,"path":["hero"],"label":"L"}}"#,
        #"{"data":{"seq":2,"next":0,"incremental":1,"path":null,"label":""}}"#,
      ])
    // A result staged by a plugin takes the place of the one it replaces.
    #expect(found.hasNext == [true, true, false])
  }

  @Test("plugins on the kits see the same", .rule("multipart.4"), arguments: KitPlugin.allCases)
  func kits(kit: KitPlugin) async throws {
    let found = try await results("parts", Self.deferred, plugin: try await kit.entry)
    #expect(
      found.texts == ["true false - -", "true true path L", "false true - -"].map { #"{"data":{"hero":{"name":"\#($0)"}}}"# })
  }

  @Test("the results of a subscription are reported one by one, heartbeats are not", .rule("multipart.5"))
  func subscribed() async throws {
    let found = try await results("describe", Self.subscription, type: .subscription)
    #expect(found.texts == (0..<3).map { #"{"data":{"seq":\#($0),"next":1,"incremental":0,"path":null,"label":""}}"# })
  }

  @Test("a plugin drops results, or ends the stream with one")
  func droppedAndEnded() async throws {
    #expect(try await results("drop-incremental", Self.deferred).texts == [#"{"data":{"hero":{}}}"#])
    #expect(
      try await results("finish-second", Self.subscription, type: .subscription).texts == [
        #"{"data":{"n":1}}"#, #"{"data":{"n":2}}"#,
      ])
  }

  @Test("plugins on the kits drop results, or end the stream with one", arguments: KitPlugin.allCases)
  func kitsDropAndEnd(kit: KitPlugin) async throws {
    let dropped = try await results("drop incremental", Self.deferred, plugin: try await kit.entry)
    #expect(dropped.texts == [#"{"data":{"hero":{}}}"#])
    let ended = try await results("finish second", Self.subscription, type: .subscription, plugin: try await kit.entry)
    #expect(ended.texts == [#"{"data":{"n":1}}"#, #"{"data":{"n":2}}"#])
  }

  @Test("parser plugins on the kits emit many results of one response, each with its flags", arguments: KitPlugin.allCases)
  func kitsParseMany(kit: KitPlugin) async throws {
    let transport = PartsTransport(contentType: "text/x-kit", chunks: ["na", "me=ab", "c"])
    let found = try await results("many", transport, chain: "parsing: [p, json]", plugin: try await kit.entry)
    #expect(found.texts == ["a", "b", "c"].map { #"{"data":{"hero":{"name":"\#($0)"}}}"# })
    #expect(found.hasNext == [true, true, false])
    let seen = try await results(
      "many", transport, chain: "graphql: [d], parsing: [p]", plugin: try await kit.entry, describing: true)
    #expect(seen.texts.map { $0.contains(#""incremental":1"#) } == [false, true, true])
  }

  @Test("a parser plugin emits many results of one response, each with its flags")
  func manyOfOneParser() async throws {
    let transport = PartsTransport(contentType: "text/x-bytes", chunks: ["ab", "c."])
    let found = try await results("parser", transport, chain: "parsing: [p, json]")
    #expect(found.texts == [97, 98, 99, 46].map { #"{"data":{"byte":\#($0)}}"# })
    #expect(found.hasNext == [true, true, true, false])
  }
}
