import Carabiner
import CarabinerManifest
import CarabinerProvider
import CarabinerWorkers
import Foundation
import Synchronization
import TestTools
import Testing

/// Plugins of this repository, in process and in a worker, with the same requests.
@Suite("A plugin in process and in a worker")
struct BothWaysTests {
  /// A plugin and its place in a chain.
  struct Subject: Sendable, CustomTestStringConvertible {
    let name: String
    var config = "{}"
    var grants = "[]"
    let chain: String
    var testDescription: String { name }
  }

  private static let everywhere = "{graphql: [p], cache: [p, store], http: [p], parsing: [p, json]}"

  /// The public key of an example in RFC 8037.
  private static let key = "{kty: OKP, crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo}"

  /// All of Plugins: C, C++, Rust and Swift.
  static let own = [
    Subject(name: "cbor-parser", chain: "{parsing: [p, json]}"),
    Subject(name: "complexity-guard", config: "{maximum-cost: 2000}", chain: "{graphql: [p]}"),
    Subject(name: "hmac-sign", config: "{key: secret}", chain: "{http: [p]}"),
    Subject(
      name: "jwt-auth", config: "{jwks: {keys: [\(key)]}, issuer: a, audience: [], allow-anonymous: true}",
      chain: "{graphql: [p]}"),
    Subject(name: "noop", chain: "{graphql: [p]}"),
    Subject(name: "recorder", chain: everywhere),
    Subject(name: "request-log", chain: "{graphql: [p]}"),
    Subject(name: "response-mask", config: "{rules: [{path: hero.name, action: mask}]}", chain: "{graphql: [p]}"),
    Subject(
      name: "token-auth", config: #"{token-url: "http://127.0.0.1:1/token", token: abc}"#, grants: "[fetch]",
      chain: "{graphql: [p]}"),
    Subject(name: "ttl-cache", config: "{ttl-seconds: 3600}", chain: "{cache: [p]}"),
  ]

  /// A transport with a response for each request, which keeps what it was sent.
  private final class Transport: HTTPTransport {
    private let responses: [(status: Int, type: String, body: [UInt8])]
    private let sent = Mutex<[String]>([])

    init(_ responses: [(status: Int, type: String, body: [UInt8])]) { self.responses = responses }

    /// The requests, all of their bytes.
    var requests: [String] { sent.withLock(\.self) }

    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      let number = sent.withLock { sent in
        let fields = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        sent.append("\(request.httpMethod) \(request.url.absoluteString)\n\(fields)\n\n\(String(describing: request.body))")
        return sent.count - 1
      }
      let response = responses[number % responses.count]
      return HTTPResponse(
        response: Carabiner.HTTPURLResponse(
          url: request.url, statusCode: response.status, headers: ["Content-Type": response.type]),
        chunks: PullStream(Data(response.body)))
    }
  }

  private static let responses: [(status: Int, type: String, body: [UInt8])] = [
    (200, "application/json", Array(#"{"data":{"hero":{"name":"R2-D2","height":1.5e0}}}"#.utf8)),
    (
      200, "application/json",
      Array(#"{"data":null,"errors":[{"message":"no \u0041","path":["hero",0]}],"extensions":{"a":[]}}"#.utf8)
    ),
    (500, "text/html", Array("<p>out of order</p>".utf8)),
    (200, "application/json", Array(#"{"data":"#.utf8)),
    // {"data": {"hero": null}}
    (200, "application/cbor", [0xA1, 0x64, 0x64, 0x61, 0x74, 0x61, 0xA1, 0x64, 0x68, 0x65, 0x72, 0x6F, 0xF6]),
    (
      200, "multipart/mixed; boundary=-",
      Array(
        "---\r\nContent-Type: application/json\r\n\r\n{\"data\":{\"a\":1},\"hasNext\":true}\r\n---\r\nContent-Type: application/json\r\n\r\n{\"incremental\":[{\"data\":{\"b\":2},\"path\":[]}],\"hasNext\":false}\r\n-----\r\n"
          .utf8)
    ),
  ]

  private static let operations = [
    DynamicOperation(document: "query Hero { hero { name } }", operationName: "Hero"),
    DynamicOperation(document: "{ hero { name height } }", operationName: nil),
    DynamicOperation(document: "mutation M { rename(name: \"ü\") { name } }", operationName: "M"),
  ]

  /// Everything that a chain sends and returns for the same requests.
  private func transcript(_ subject: Subject, _ path: String, _ isolation: String) async throws -> (sent: [String], got: [String])
  {
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
          - {name: p, file: \(path), config: \(subject.config), grants: \(subject.grants), isolation: \(isolation)}
        chain: \(subject.chain)
        """)
    let chain = try HostedChain(manifest)
    let transport = Transport(Self.responses)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql?a=b"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(interceptorProvider: chain, endpointURL: url, httpTransport: transport))
    var got: [String] = []
    for operation in Self.operations {
      for _ in Self.responses {
        do {
          for try await response in try client.results(of: operation, cachePolicy: .networkOnly) {
            got.append("\(response.source) \(String(describing: response.body)) \(String(describing: response.delivery))")
          }
          got.append("end")
        } catch {
          got.append("\(error)")
        }
      }
    }
    if isolation == "worker" { #expect(chain.workers().map(\.restarts) == [0], "\(chain.workers())") }
    return (transport.requests, got)
  }

  private func expectSame(_ subject: Subject, _ path: String) async throws {
    // A signature has the time in seconds: both ways are compared within one.
    for _ in 0..<20 {
      let inProcess = try await transcript(subject, path, "in-process")
      let worker = try await transcript(subject, path, "worker")
      #expect(!inProcess.sent.isEmpty && inProcess.got.contains("end"))
      if inProcess.sent != worker.sent, Self.times(inProcess.sent) != Self.times(worker.sent) { continue }
      #expect(worker.sent == inProcess.sent)
      #expect(worker.got == inProcess.got)
      return
    }
    Issue.record("no two runs of \(subject.name) were within a second")
  }

  /// The times of all requests.
  private static func times(_ requests: [String]) -> [Substring] {
    requests.flatMap { $0.split(separator: "\n").filter { $0.lowercased().hasPrefix("x-timestamp:") } }
  }

  @Test("send and return the same, byte by byte", .rule("worker-test.43"), arguments: own)
  func ownPlugins(_ subject: Subject) async throws {
    try await expectSame(subject, Repository.root.appending(path: "Plugins/\(subject.name)/build/\(subject.name).so").path)
  }

  @Test("each plugin of the repository is compared")
  func everyPlugin() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: "Plugins").path)
    #expect(Set(Self.own.map(\.name)) == Set(folders.filter { !$0.hasPrefix(".") && !OwnPluginTests.inProcess.contains($0) }))
  }

  @Test(
    "plugins on the kits for C, C++, Rust and Swift send and return the same, byte by byte", .rule("worker-test.43"),
    arguments: BadPlugin.good)
  func kits(_ plugin: BadPlugin) async throws {
    let path = try await plugin.built()
    let chain =
      switch plugin.name {
      case "state", "replaced-errors": "{graphql: [p]}"
      case "counters": "{graphql: [p], http: [p]}"
      default: Self.everywhere
      }
    try await expectSame(Subject(name: plugin.testDescription, chain: chain), path)
  }
}
