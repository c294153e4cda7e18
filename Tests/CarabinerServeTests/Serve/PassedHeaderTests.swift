import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import ScriptedSocket
import Synchronization
import TestTools
import Testing

@Suite("Header fields that pass the gateway")
struct PassedHeaderTests {
  /// The bytes of the last request at an upstream.
  private final class Received: Sendable {
    let bytes = Mutex<[UInt8]>([])

    /// Whether there is a line with these bytes.
    func hasLine(_ line: [UInt8]) -> Bool {
      let line = Array("\r\n".utf8) + line + Array("\r\n".utf8)
      return bytes.withLock { $0.firstRange(of: line) != nil }
    }
  }

  /// An upstream whose responses have fields of the connection and bytes that are not UTF-8.
  private func upstream(_ received: Received) throws -> ScriptedServer {
    try ScriptedServer { peer in
      while true {
        var request: [UInt8] = []
        while request.last != UInt8(ascii: "}") {
          guard let more = peer.receive() else { return }
          request += more
        }
        received.bytes.withLock { $0 = request }
        let head =
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nContent-Length: 16\r\n"
        try peer.send(Array("\(head)X-City: M".utf8) + [0xFC] + Array("nchen\r\n\r\n{\"data\":{\"a\":1}}".utf8))
      }
    }
  }

  @Test("bytes, cookies, fields of the connection, and the manifest's own headers, over HTTP and over the upstream's WebSocket")
  func passed() async throws {
    let received = Received()
    let upstream = try upstream(received)
    let handshakes = Mutex<[String]>([])
    let sockets = try ScriptedServer.sockets { socket in
      let names = [
        "authorization", "x-user", "x-caller", "cookie", "x-request-id", "apollographql-client-name",
        "apollographql-client-version",
      ]
      let fields = names.map { socket.request.header($0) ?? "-" }
      handshakes.withLock { $0.append(fields.joined(separator: " ")) }
      try socket.begin()
      while let id = try socket.id(of: "subscribe") {
        try socket.next(id, 1)
        try socket.complete(id)
      }
    }
    let folder = try StoreFolder()
    _ = try folder.write(
      """
      carabiner: 1
      endpoint: \(upstream.origin)/graphql
      headers: {x-caller: gateway}
      settings: {websocket: {url: "\(sockets.socketURL)"}, client-awareness: {name: shop}}
      serve: {
        forward-headers: [authorization, cookie, "x-*", "apollographql-*"], return-headers: ["x-*"],
        connection-init-headers: [authorization, x-user]
      }

      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: nil, ["--http2"])
    let client = try ClientSocket(port: gateway.port)
    let fields =
      "Host: a\r\nContent-Type: application/json\r\nConnection: X-Tenant\r\nX-Tenant: 7\r\nX-Caller: client\r\nCookie: a=1\r\n"
      + "Apollographql-Client-Name: client\r\nApollographql-Client-Version: 9\r\n"
    client.send(
      Array("POST /graphql HTTP/1.1\r\n\(fields)Cookie: b=".utf8) + [0xFC] + Array("\r\nX-Name: caf".utf8) + [0xE9]
        + Array("\r\nContent-Length: 17\r\n\r\n{\"query\":\"{ a }\"}".utf8))
    var answer: [UInt8] = []
    while answer.last != UInt8(ascii: "}"), let more = client.receive(patience: 60_000), !more.isEmpty { answer += more }
    #expect(answer.firstRange(of: Array("X-City: M".utf8) + [0xFC] + Array("nchen\r\n".utf8)) != nil)
    #expect(!String(decoding: answer, as: UTF8.self).contains("X-Hop"))
    #expect(received.hasLine(Array("Cookie: a=1; b=".utf8) + [0xFC]))
    #expect(received.hasLine(Array("X-Name: caf".utf8) + [0xE9]))
    let request = received.bytes.withLock { String(decoding: $0, as: UTF8.self).lowercased() }
    #expect(
      request.contains("\r\nx-caller: gateway\r\n") && !request.contains("x-caller: client") && !request.contains("x-tenant"),
      "\(request)")

    // Clients of HTTP/2 may send each cookie as a field (RFC 9113, 8.2.3).
    let multiplexed = try HTTP2Client(port: gateway.port)
    multiplexed.post(1, #"{"query":"{ a }"}"#, headers: [("cookie", "a=1"), ("cookie", "c=2")])
    while let frame = multiplexed.next(), !frame.endsStream {}
    let joined = received.bytes.withLock { String(decoding: $0, as: UTF8.self).lowercased() }
    #expect(joined.contains("\r\ncookie: a=1; c=2\r\n"), "\(joined)")

    // The manifest names no version, so that of the client passes.
    #expect(request.contains("client-name: shop\r\n") && !request.contains("client-name: client"), "\(request)")
    #expect(request.contains("client-version: 9\r\n"), "\(request)")

    for user in ["alice", "bob", "alice"] {
      let events = try RawAnswer(
        gateway.endpoint, body: #"{"query":"subscription { count }"}"#,
        headers: [
          "Accept: text/event-stream", "Authorization: Bearer \(user)", "X-User: \(user)", "X-Caller: client",
          "Apollographql-Client-Name: client",
        ])
      #expect(events.text.contains(#"{"data":{"count":1}}"#), "\(events.text)")
    }
    // A browser cannot add fields to a handshake, so its first message has them.
    let browser = try WebSocketClient(gateway)
    browser.send(#"{"type":"connection_init","payload":{"headers":{"Authorization":"Bearer carol","X-User":"carol"}}}"#)
    #expect(browser.message()?["type"] == "connection_ack")
    browser.subscribe("1", "subscription { count }")
    #expect(browser.message()?["payload"] == ["data": ["count": 1]])
    #expect(
      handshakes.withLock(\.self) == ["alice", "bob", "carol"].map { "Bearer \($0) \($0) gateway - - shop -" })
  }
}
