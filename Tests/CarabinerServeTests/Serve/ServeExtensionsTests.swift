import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Testing

@Suite("carabiner serve: extensions of requests")
struct ServeExtensionsTests {
  private static let hash = String(repeating: "0", count: 64)
  private static let extensions = #"{"trace":{"on":true},"persistedQuery":{"version":1,"sha256Hash":"\#(hash)"}}"#

  private func gateway(_ manifest: String) throws -> (ScriptedServer, ServeProcess) {
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
    let folder = try StoreFolder()
    _ = try folder.write(manifest, to: "chain.yaml")
    return (upstream, try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql"))
  }

  private func sent(_ upstream: ScriptedServer) throws -> JSONValue? {
    try upstream.requests.last.map { try JSONValue(parsing: $0.body)["extensions"] } ?? nil
  }

  @Test("a client's extensions are forwarded except the hash of its document, and none are sent if it has none")
  func passedOn() throws {
    let (upstream, gateway) = try gateway("carabiner: 1\n")
    _ = try RawAnswer(gateway.endpoint, body: #"{"query":"{ a }","extensions":\#(Self.extensions)}"#)
    #expect(try sent(upstream) == ["trace": ["on": true]])
    _ = try RawAnswer(
      "\(gateway.endpoint)?query=%7Ba%7D&extensions=%7B%22x%22%3A%5B1%5D%7D", headers: ["Apollo-Require-Preflight: true"])
    #expect(try sent(upstream) == ["x": [1]])
    let client = try WebSocketClient(initialised: gateway)
    client.send(#"{"type":"subscribe","id":"1","payload":{"query":"{ a }","extensions":{"y":null}}}"#)
    #expect(client.message()?["type"] == "next")
    #expect(try sent(upstream) == ["y": .null])
    _ = try gateway.query("{ a }")
    #expect(try sent(upstream) == nil)
    let refused = try RawAnswer(gateway.endpoint, body: #"{"query":"{ a }","extensions":[]}"#)
    #expect(refused.status == 400 && refused.text.contains("extensions"))
  }

  @Test("the chain's own members are added to the client's, and take precedence")
  func merged() throws {
    let (upstream, gateway) = try gateway("carabiner: 1\nbuilt-ins: {persisted-queries: {enabled: true}}\n")
    _ = try RawAnswer(gateway.endpoint, body: #"{"query":"{ a }","extensions":\#(Self.extensions)}"#)
    let extensions = try #require(try sent(upstream))
    #expect(extensions["trace"] == ["on": true])
    let hash = extensions["persistedQuery"]?["sha256Hash"]?.string
    #expect(hash?.count == 64 && hash != Self.hash)
  }
}
