import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// Upstreams that answer subscriptions with event streams.
@Suite("carabiner serve: upstreams with GraphQL over SSE")
struct EventUpstreamTests {
  private let folder: StoreFolder

  init() throws {
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nsettings: {subscriptions: events, maximum-part: 64KiB}\n", to: "chain.yaml")
  }

  private static let events = "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

  private func answer(_ endpoint: String, _ query: String, accept: String = "text/event-stream") throws -> RawAnswer {
    try ServeProcess(folder, endpoint: endpoint).query(query, headers: ["Accept: \(accept)"])
  }

  /// A server that answers with these chunks, and waits for the end of the connection.
  private func server(_ chunks: String..., isWhole: Bool = true) throws -> ScriptedServer {
    try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\n" + Self.events)
      for chunk in chunks { try peer.send("\(String(chunk.utf8.count, radix: 16))\r\n\(chunk)\r\n") }
      if isWhole { try peer.send("0\r\n\r\n") }
      peer.waitForHangUp()
    }
  }

  @Test("a subscription of a real server reaches clients as events and as parts")
  func ariadne() async throws {
    let server = try await AriadneServer()
    let query = #"subscription { labels(of: "1", count: 3) { label } }"#
    let events = try answer(server.endpoint, query)
    let labels = (0..<3).map { #"{"data": {"labels": {"label": "label \#($0)"}}}"# }
    #expect(
      events.text == labels.map { "event: next\ndata: \($0)\n\n" }.joined() + "event: complete\ndata:\n\n", "\(events.text)")
    let parts = try answer(server.endpoint, query, accept: "multipart/mixed;subscriptionSpec=1.0")
    for label in labels { #expect(parts.text.contains(#"{"payload":\#(label)}"#), "\(parts.text)") }
    let refused = try answer(server.endpoint, "subscription { refused }")
    #expect(refused.text.contains("FORBIDDEN"), "\(refused.text)")
    let shelf = try answer(server.endpoint, #"{ shelf(id: "1") { id } }"#, accept: "application/json")
    #expect(shelf.text == #"{"data":{"shelf":{"id":"1"}}}"#)
  }

  @Test("events are passed on as they arrive, and pings of the upstream are not")
  func pings() throws {
    let upstream = try server(
      ":\n\n", "event: next\r\ndata: {\"data\":\r\ndata: {\"a\":1}}\r\n\r\n", ": ping\n\n", "event: complete\ndata:\n\n")
    let text = try answer("\(upstream.origin)/graphql", "subscription { a }").text
    #expect(text == "event: next\ndata: {\"data\":{\"a\":1}}\n\nevent: complete\ndata:\n\n", "\(text)")
    #expect(upstream.requests.first?.header("Accept") == "text/event-stream")
  }

  @Test("a broken stream ends the subscription with an error")
  func broken() throws {
    let cases: [(ScriptedServer, String)] = [
      (try server("event: next\ndata: {\"data\":{\"a\":1}}\n\n"), "BAD_UPSTREAM_RESPONSE"),
      (try server("event: next\ndata: nothing\n\n"), "BAD_UPSTREAM_RESPONSE"),
      (try server("event: next\ndata: \(String(repeating: "x", count: 100_000))", isWhole: false), "BAD_UPSTREAM_RESPONSE"),
      (try server(String(repeating: "data: 0123456789\n", count: 10_000), isWhole: false), "BAD_UPSTREAM_RESPONSE"),
    ]
    for (upstream, code) in cases {
      let text = try answer("\(upstream.origin)/graphql", "subscription { a }").text
      #expect(text.contains(code), "\(text)")
    }
  }

  @Test("events without end are read only as fast as the client reads, and end when the client leaves")
  func endless() async throws {
    let upstream = try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\n" + Self.events)
      let event = "event: next\ndata: {\"data\":{\"a\":\"\(String(repeating: "x", count: 10_000))\"}}\n\n"
      while true { try peer.send("\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n") }
    }
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql")
    let body = #"{"query":"subscription { a }"}"#
    let client = try ClientSocket(port: gateway.port)
    client.send(
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(client.receive() != nil)
    let before = try gateway.residentBytes()
    // The client does not read. The kernel's buffers fill, and the upstream has to wait.
    var sent = -1
    while sent != upstream.bytesSent {
      sent = upstream.bytesSent
      usleep(500_000)
    }
    #expect(try gateway.residentBytes() - before < 64 << 20)
    client.hangUp()
    #expect(await eventually { upstream.openConnections == 0 })
  }
}
