import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Testing

/// Clients that send invalid WebSocket handshakes or break the protocol.
@Suite("carabiner serve: hostile WebSockets")
struct HostileWebSocketTests {
  private typealias Opcode = WebSocketClient.Opcode

  private let upstream: DemoServerProcess
  private let folder: StoreFolder

  init() throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  private func gateway(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(
      folder, endpoint: upstream.endpoint, ["--maximum-message", "2000B", "--receive-timeout", "700ms"] + arguments)
  }

  /// After a hostile client, other clients are served as before.
  private func expectServes(_ gateway: ServeProcess) throws {
    #expect(try gateway.query("{ __typename }").text == #"{"data":{"__typename":"Query"}}"#)
  }

  @Test("a handshake that is none is refused with its reason")
  func refusedHandshakes() throws {
    let gateway = try gateway(["--allow-origin", "https://friend.example"])
    let cases: [([String: String?], Int, String)] = [
      (["Sec-WebSocket-Protocol": nil], 400, "SUBPROTOCOL_NOT_ACCEPTABLE"),
      (["Sec-WebSocket-Protocol": "graphql-ws"], 400, "SUBPROTOCOL_NOT_ACCEPTABLE"),
      (["Sec-WebSocket-Version": "8"], 426, "BAD_HANDSHAKE"), (["Sec-WebSocket-Key": nil], 400, "BAD_HANDSHAKE"),
      (["Sec-WebSocket-Key": "c2hvcnQ="], 400, "BAD_HANDSHAKE"), (["Connection": "close"], 400, "BAD_HANDSHAKE"),
      (["Origin": "https://elsewhere.example"], 403, "ORIGIN_NOT_ALLOWED"), (["Origin": "null"], 403, "ORIGIN_NOT_ALLOWED"),
      (["Origin": "http://gateway"], 403, "ORIGIN_NOT_ALLOWED"),
      (["Origin": "https://friend.example.evil.example"], 403, "ORIGIN_NOT_ALLOWED"),
    ]
    for (headers, status, code) in cases {
      let client = try ClientSocket(port: gateway.port)
      client.send(WebSocketClient.handshake(headers) + "\r\n")
      let (text, isClosed) = client.read()
      #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.contains(code), "\(headers): \(text)")
      #expect(isClosed, "\(headers)")
    }
    for origin in ["http://gateway:4000", "HTTPS://Friend.Example", "https://friend.example:443"] {
      #expect(throws: Never.self) { try WebSocketClient(initialised: gateway, ["Origin": origin]) }
    }
    try expectServes(gateway)
  }

  @Test("without WebSockets, or at another path, a handshake is an ordinary request")
  func notTaken() throws {
    let without = try gateway(["--no-websocket"])
    let closed = try ClientSocket(port: without.port)
    closed.send(WebSocketClient.handshake() + "\r\n")
    #expect(closed.read().text.contains("CSRF"))
    let with = try gateway()
    let elsewhere = try ClientSocket(port: with.port)
    elsewhere.send(WebSocketClient.handshake().replacing("/graphql", with: "/other") + "\r\n")
    #expect(elsewhere.read().text.hasPrefix("HTTP/1.1 404"))
  }

  @Test("a client that breaks the protocol is disconnected with the right code, and other clients are not affected")
  func brokenRules() async throws {
    let gateway = try gateway()
    let initialise = Array(#"{"type":"connection_init"}"#.utf8)
    let subscription = Array(
      #"{"type":"subscribe","id":"1","payload":{"query":"subscription { countdown(from: 1000, everyMilliseconds: 500) }"}}"#.utf8)
    let cases: [(String, UInt16, (WebSocketClient) -> Void)] = [
      ("operation before init", 4401, { $0.send(Opcode.text, subscription) }),
      ("two inits", 4429, { for _ in 0..<2 { $0.send(Opcode.text, initialise) } }),
      ("one id twice", 4409, { for message in [initialise, subscription, subscription] { $0.send(Opcode.text, message) } }),
      ("no JSON", 4400, { $0.send("{") }), ("no object", 4400, { $0.send("[]") }),
      ("no UTF-8", 1007, { $0.send(Opcode.text, [0xFF]) }),
      ("no type", 4400, { $0.send("{}") }), ("unknown type", 4400, { $0.send(#"{"type":"start","id":"1","payload":{}}"#) }),
      ("no id", 4400, { $0.send(#"{"type":"subscribe","payload":{"query":"{ a }"}}"#) }),
      ("no payload", 4400, { $0.send(#"{"type":"subscribe","id":"1"}"#) }),
      ("deep", 4400, { $0.send(String(repeating: "[", count: 1500)) }),
      ("a bad header", 4400, { $0.send(#"{"type":"connection_init","payload":{"headers":{"x":"a\r\nb: c"}}}"#) }),
      ("unmasked", 1002, { $0.send(Opcode.text, initialise, isMasked: false) }),
      ("reserved bit", 1002, { $0.send(Opcode.text, initialise, reserved: 0x40) }),
      ("unknown frame", 1002, { $0.send(3, []) }), ("binary", 1003, { $0.send(Opcode.binary, initialise) }),
      ("end without beginning", 1002, { $0.send(Opcode.continuation, initialise) }),
      ("two beginnings", 1002, { for _ in 0..<2 { $0.send(Opcode.text, initialise, isFinal: false) } }),
      ("a ping in pieces", 1002, { $0.send(Opcode.ping, [], isFinal: false) }),
      ("a long ping", 1002, { $0.send(Opcode.ping, [UInt8](repeating: 0, count: 126)) }),
      ("half a close code", 1002, { $0.send(Opcode.close, [3]) }), ("no close code", 1002, { $0.send(Opcode.close, [3, 237]) }),
      ("a long frame", 1009, { $0.sendRaw([0x81, 0xFF, 0x7F, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]) }),
      (
        "a long message", 1009,
        { client in
          for index in 0..<3 { client.send(index == 0 ? 1 : 0, [UInt8](repeating: 32, count: 900), isFinal: index == 2) }
        }
      ),
    ]
    for (name, code, act) in cases {
      let client = try WebSocketClient(gateway)
      act(client)
      #expect(client.closeCode() == code, "\(name)")
    }
    try expectServes(gateway)
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
  }

  @Test("a client is disconnected if it sends no connection_init, sends noise, or sends frames before the handshake ends")
  func noise() throws {
    let gateway = try gateway()
    let silent = try WebSocketClient(gateway)
    #expect(silent.next() == .closed(4408, reason: "Connection initialisation timeout"))
    let noisy = try WebSocketClient(gateway)
    noisy.sendRaw((0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 197 &+ 11) })
    #expect([1002, 1009, nil].contains(noisy.closeCode()))
    let hasty = try ClientSocket(port: gateway.port)
    hasty.send(WebSocketClient.handshake() + "\r\n" + "\u{1}\u{2}\u{3}\u{4}")
    #expect(hasty.read().isClosed)
    try expectServes(gateway)
  }

  @Test("a flood of subscriptions runs up to its limit, and the rest is refused one by one")
  func flood() async throws {
    let gateway = try gateway(["--maximum-per-socket", "5", "--receive-timeout", "20s"])
    let client = try WebSocketClient(initialised: gateway)
    for id in 0..<2000 { client.subscribe("\(id)", "subscription { countdown(from: 100000, everyMilliseconds: 5000) }") }
    var refused = 0
    var begun: Set<String> = []
    while refused < 1995 {
      let message = try #require(client.message())
      if message["type"] == "error" { refused += 1 } else { begun.insert(message["id"]?.string ?? "") }
    }
    #expect(begun.isSubset(of: Set((0..<5).map(String.init))))
    #expect(try await gateway.status()["operations"]?["running"]?.int == 5)
    try expectServes(gateway)
    client.hangUp()
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
  }

  @Test("a client that does not read delays its own results only")
  func backPressure() async throws {
    let body = String(repeating: "x", count: 50_000)
    let total = 2000
    let firehose = try ScriptedServer { peer in
      guard let request = try peer.request() else { return }
      guard String(decoding: request.body, as: UTF8.self).contains("subscription") else {
        return try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"__typename":"Query"}}"#)
      }
      peer.limitSendBuffer(to: 1 << 17)
      try peer.send(
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b; subscriptionSpec=1.0\r\n\r\n--b")
      for index in 0..<total {
        try peer.send(
          "\r\nContent-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"n\":\(index),\"x\":\"\(body)\"}}}\r\n--b")
      }
      try peer.send("--\r\n")
    }
    let gateway = try ServeProcess(folder, endpoint: "\(firehose.origin)/graphql")
    let client = try WebSocketClient(initialised: gateway)
    client.subscribe("1", "subscription { n x }")
    #expect(client.message()?["payload"]?["data"]?["n"] == 0)
    // Continues until the upstream can send no more.
    var sent = -1
    while firehose.bytesSent != sent {
      sent = firehose.bytesSent
      try await Task.sleep(for: .milliseconds(400))
    }
    #expect(sent < 50_000_000, "a hundred megabytes wait, of which the buffers of the system take some")
    try expectServes(gateway)
    for index in 1..<20 { #expect(client.message()?["payload"]?["data"]?["n"]?.int == index) }
    client.hangUp()
    while try await gateway.status()["operations"]?["running"]?.int != 0 {}
  }
}
