import CarabinerManifest
import CarabinerWire
import TestTools
import Testing

@Suite("A manifest configures a WebSocket for subscriptions")
struct ManifestWebSocketTests {
  private func manifest(_ webSocket: String) throws -> Manifest {
    try Manifest(text: "carabiner: 1\nsettings:\n  websocket: \(webSocket)")
  }

  @Test("all keys are read", .rule("websocket.1", "websocket.3"))
  func everything() throws {
    let settings = try #require(
      manifest(
        """
        {url: "wss://h/graphql", protocol: graphql-ws, connection-init: {token: "${env:T}", n: 1},
         acknowledgement-timeout: 3s, ping-interval: 20s, maximum-message: 1MiB, reconnects: 2}
        """
      ).settings.webSocket)
    #expect(settings.url == "wss://h/graphql")
    #expect(settings.webSocketProtocol == .graphQLWS)
    #expect(settings.connectionInit == ["token": "${env:T}", "n": 1])
    #expect(settings.acknowledgementTimeout == .seconds(3))
    #expect(settings.pingInterval == .seconds(20))
    #expect(settings.maximumMessageBytes == 1 << 20)
    #expect(settings.reconnects == 2)
    let least = try #require(manifest("{url: ws://h}").settings.webSocket)
    #expect(least == Manifest.WebSocket(url: "ws://h"))
    #expect(least.webSocketProtocol == .graphQLTransportWS)
    #expect(try Manifest(text: "carabiner: 1").settings.webSocket == nil)
  }

  @Test("secrets are resolved late, and messages show the reference")
  func secrets() throws {
    let manifest = try manifest(
      #"{url: "wss://${env:HOST}/g", connection-init: {token: "Bearer ${env:TOKEN}", list: ["${env:TOKEN}"]}}"#)
    let secrets = SecretReferences(directory: ".") { ["HOST": "example.org", "TOKEN": "hunter2"][$0] }
    #expect(try manifest.resolvedWebSocketURL(secrets)?.value == "wss://example.org/g")
    #expect(try manifest.resolvedConnectionInit(secrets) == ["token": "Bearer hunter2", "list": ["hunter2"]])
    #expect(manifest.redaction(secrets)("token hunter2") == "token ${env:TOKEN}")
    let none = SecretReferences(directory: ".") { _ in nil }
    #expect(
      manifest.problems(of: none).map(\.pointer.description) == [
        "/settings/websocket/url", "/settings/websocket/connection-init/token",
      ])
  }

  @Test(
    "invalid values are refused with their places by the reader and, except for references, by the schema",
    arguments: [
      ("{}", "", "the url is missing", true), ("7", "", "must be an object", true),
      ("{url: http://h}", "/url", "not a WebSocket URL", true),
      ("{url: ws://h, protocol: mqtt}", "/protocol", "graphql-transport-ws or", true),
      ("{url: ws://h, connection-init: [1]}", "/connection-init", "must be an object", true),
      ("{url: ws://h, connection-init: {a: \"${env:}\"}}", "/connection-init/a", "", false),
      ("{url: ws://h, ping-interval: 0s}", "/ping-interval", "is zero", true),
      ("{url: ws://h, reconnects: -1}", "/reconnects", "whole number", true),
      ("{url: ws://h, maximum-message: 0}", "/maximum-message", "is zero", true),
      ("{url: ws://h, pings: 1s}", "/pings", "unknown key", true),
    ])
  func refusals(text: String, pointer: String, fragment: String, isStructural: Bool) throws {
    let whole = "carabiner: 1\nsettings: {websocket: \(text)}"
    let problems = ManifestFixtures.problems(whole)
    #expect(problems.map(\.pointer.description) == ["/settings/websocket\(pointer)"])
    #expect(problems.first?.message.contains(fragment) == true, "\(problems)")
    guard isStructural else { return }
    let schema = try CompiledSchema(try JSONValue(parsing: Manifest.schema))
    #expect(!schema.violations(in: try ManifestFixtures.value(whole)).isEmpty)
  }
}
