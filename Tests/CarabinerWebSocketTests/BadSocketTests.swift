import Carabiner
import CarabinerWebSocket
import CarabinerWire
import Foundation
import ScriptedServer
import ScriptedSocket
import TestTools
import Testing

/// Servers that violate the protocol. Each one causes a clear error, and none a hang.
@Suite("Bad input over WebSocket", .timeLimit(.minutes(2)))
struct BadSocketTests {
  private typealias Change = (inout WebSocketTransport.Configuration) -> Void

  /// The result of a subscription from a server that does this after `subscribe`.
  private func outcome(
    _ change: Change = { _ in },
    _ script: @escaping @Sendable (SocketPeer, String) throws -> Void
  ) async throws -> (CountOutcome, ScriptedServer) {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.id(of: "subscribe") else { return }
      try script(socket, id)
      _ = socket.closeCode()
    }
    return (try await ApolloClient.socket(server.socketURL, change).counts(), server)
  }

  /// The result of a subscription from a server that does this in the handshake.
  private func handshake(
    _ change: Change = { _ in },
    _ script: @escaping @Sendable (SocketPeer) throws -> Void
  ) async throws -> WebSocketError {
    let server = try ScriptedServer.sockets { socket in
      try script(socket)
      _ = socket.closeCode()
    }
    let outcome = try await ApolloClient.socket(server.socketURL, change).counts()
    #expect(server.connections == 1)
    return try #require(outcome.error as? WebSocketError, "\(outcome)")
  }

  // MARK: Handshake

  @Test(
    "a response other than 101 is an error with the status and a hint",
    arguments: [
      (401, "Unauthorized", "check the headers"), (404, "Not Found", "check the path"),
      (500, "Oops", "check the log of the server"),
      (302, "Found", "redirects are not followed"), (200, "OK", "check the URL"), (426, "Upgrade Required", "which subprotocol"),
    ])
  func refused(status: Int, words: String, advice: String) async throws {
    let error = try await handshake { socket in
      try socket.peer.respond("\(status) \(words)", headers: "Location: /there\r\n", body: "no thanks")
    }
    #expect(error.code == .upgradeRefused)
    #expect(error.statusCode == status)
    #expect(error.message.contains(advice), "\(error)")
    #expect(error.message.contains(#"saying "no thanks""#))
  }

  @Test("a wrong answer to the key is refused")
  func wrongKey() async throws {
    let error = try await handshake { try $0.upgrade(accept: "bm9uc2Vuc2U=") }
    #expect(error.code == .invalidUpgrade)
    #expect(error.message.contains("Sec-WebSocket-Accept"))
  }

  @Test(
    "another subprotocol is refused with the one to choose", .rule("websocket.1"), arguments: ["graphql-ws", "nonsense", " "])
  func wrongSubprotocol(name: String) async throws {
    let error = try await handshake { try $0.upgrade(subprotocol: name) }
    #expect(error.code == .subprotocolRefused)
    #expect(error.message.contains("use graphql-ws if the server supports it"), "\(error)")
  }

  @Test("an extension that was not requested is refused")
  func extensions() async throws {
    let error = try await handshake { try $0.upgrade(extra: "Sec-WebSocket-Extensions: permessage-deflate\r\n") }
    #expect(error.code == .invalidUpgrade)
  }

  @Test("an answer that is not HTTP, or empty, is refused", arguments: ["nonsense\r\n\r\n", "", "HTTP/1.1 101"])
  func noHTTP(text: String) async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      try peer.send(text)
    }
    let outcome = try await ApolloClient.socket(server.socketURL).counts()
    #expect(outcome.code == .invalidUpgrade || outcome.code == .cannotConnect, "\(outcome)")
  }

  @Test("a server that never answers the handshake is given up after the connect timeout")
  func silentHandshake() async throws {
    let impatient: Change = { $0.connectTimeout = .milliseconds(200) }
    let error = try await handshake(impatient) { $0.peer.waitForHangUp() }
    #expect(error.code == .connectTimeout)
  }

  @Test("an address without a listener is reported")
  func noListener() async throws {
    // Keeps the port, which a server of another test would get otherwise.
    let listener = try Listener(backlog: 1, isOpen: false)
    let port = listener.port
    let url = try #require(URL(string: "ws://127.0.0.1:\(port)/"))
    let outcome = try await ApolloClient.socket(url).counts()
    #expect(outcome.code == .cannotConnect)
    #expect("\(outcome.error as Any)".contains("nothing accepts connections at 127.0.0.1:\(port)"))
  }

  @Test("a URL of something else is refused at once", arguments: ["http://h/", "ws:///x", "wss://", "ftp://h", "ws://h:0/"])
  func badURL(text: String) throws {
    let url = try #require(URL(string: text))
    let error = #expect(throws: WebSocketError.self) { try WebSocketTransport(url: url) }
    #expect(error?.code == .unsupportedURL)
  }

  @Test("a header that would end its line early is refused at once", arguments: [("X-A", "a\r\nB: c"), ("X A", "b"), ("", "b")])
  func badHeader(name: String, value: String) throws {
    let url = try #require(URL(string: "ws://127.0.0.1:1/"))
    let error = #expect(throws: WebSocketError.self) {
      try WebSocketTransport(url: url, additionalHeaders: HTTPHeaders([.init(name: name, value: value)]))
    }
    #expect(error?.code == .invalidHeader)
  }

  // MARK: The protocol

  @Test("no acknowledgement in time", .rule("websocket.1"))
  func noAcknowledgement() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      try socket.upgrade()
      journal.note("\(socket.closeCode() ?? 0)")
    }
    let outcome = try await ApolloClient.socket(server.socketURL) { $0.acknowledgementTimeout = .milliseconds(100) }.counts()
    #expect(outcome.code == .acknowledgementTimeout)
    try await journal.wait(for: 1)
    #expect(journal.entries == ["4504"])
  }

  @Test("a payload of connection_init that cannot be made is the error")
  func noPayload() async throws {
    struct NoToken: Error {}
    let server = try ScriptedServer.sockets { _ in }
    let outcome = try await ApolloClient.socket(server.socketURL) { $0.connectionPayload = { throw NoToken() } }.counts()
    #expect(outcome.code == .initialisationFailed)
    #expect(server.connections == 0)
  }

  @Test(
    "each close code after the handshake is a separate error", .rule("websocket.1"),
    arguments: [
      (4400, WebSocketError.Code.badRequest), (4401, .unauthorized), (4403, .forbidden), (4406, .subprotocolRefused),
      (4409, .subscriberExists), (4429, .tooManyInitialisations), (4500, .serverFailed),
    ] as [(UInt16, WebSocketError.Code)])
  func fatalClosing(number: UInt16, code: WebSocketError.Code) async throws {
    let (outcome, server) = try await outcome { socket, _ in try socket.close(number, "no") }
    #expect(outcome.code == code)
    #expect((outcome.error as? WebSocketError)?.closeCode?.rawValue == number)
    #expect(server.connections == 1)
  }

  @Test(
    "other close codes are tried again, and are the error if nothing helps", .rule("websocket.1"),
    arguments: [
      (4408, WebSocketError.Code.acknowledgementTimeout), (1000, .connectionLost), (1001, .connectionLost),
      (1011, .serverFailed), (4999, .closed),
    ] as [(UInt16, WebSocketError.Code)])
  func passingClosing(number: UInt16, code: WebSocketError.Code) async throws {
    let twice: Change = { $0.reconnection.maximumAttempts = 2 }
    let (outcome, server) = try await outcome(twice) { socket, _ in try socket.close(number) }
    #expect(outcome.code == code)
    #expect(server.connections == 3)
  }

  @Test("before the acknowledgement a close code is the error at once", .rule("websocket.1"), arguments: [4403, 4408, 1011])
  func earlyClosing(number: UInt16) async throws {
    let error = try await handshake { socket in
      try socket.upgrade()
      _ = try socket.message()
      try socket.close(number)
    }
    #expect(error.closeCode?.rawValue == number)
  }

  @Test("unknown ids and a second acknowledgement are ignored", .rule("websocket.2"))
  func oddities() async throws {
    let (outcome, _) = try await outcome { socket, id in
      try socket.send(#"{"type":"connection_ack"}"#)
      for other in ["77", "x", ""] {
        try socket.next(other, 9)
        try socket.complete(other)
        try socket.send(#"{"id":"\#(other)","type":"error","payload":[]}"#)
      }
      try socket.next(id, 1)
      try socket.complete(id)
    }
    #expect(outcome.error == nil)
    #expect(outcome.counts == [1])
  }

  @Test(
    "messages that are none end the connection", .rule("websocket.1"),
    arguments: ["nonsense", "{", "[]", #"{"type":"next","id":"1"}"#, ""])
  func invalidMessages(text: String) async throws {
    let journal = Journal()
    let (outcome, server) = try await outcome { socket, id in
      try socket.next(id, 1)
      try socket.send(text)
      journal.note("\(socket.closeCode() ?? 0)")
    }
    #expect(outcome.counts == [1])
    #expect(outcome.code == .invalidMessage)
    #expect(server.connections == 1)
    try await journal.wait(for: 1)
    #expect(journal.entries == ["4004"])
  }

  @Test("a payload that is not a response fails only its operation", .rule("websocket.1"))
  func invalidPayload() async throws {
    let (outcome, _) = try await outcome { socket, id in try socket.send(#"{"id":"\#(id)","type":"next","payload":{"a":1}}"#) }
    #expect((outcome.error as? ResponseParsingError)?.code == .notAGraphQLResponse)
  }

  // MARK: Frames

  @Test("a message in fragments, with a ping between them, is one message")
  func fragments() async throws {
    let journal = Journal()
    let (outcome, _) = try await outcome { socket, id in
      let bytes = Array(SocketPeer.next(id, 7).utf8)
      for (index, byte) in bytes.enumerated() {
        try socket.send(
          index == 0 ? SocketPeer.Opcode.text : SocketPeer.Opcode.continuation, [byte], isLast: index == bytes.count - 1)
        if index == 5 {
          try socket.send(SocketPeer.Opcode.ping, Array("hello".utf8))
          let pong = socket.frame()
          journal.note("\(pong?.opcode ?? 0) \(pong?.isMasked ?? false) \(String(decoding: pong?.payload ?? [], as: UTF8.self))")
        }
      }
      try socket.complete(id)
    }
    #expect(outcome.error == nil)
    #expect(outcome.counts == [7])
    #expect(journal.entries == ["10 true hello"])
  }

  @Test("frames that come with the answer to the handshake, and cut anywhere, are read")
  func anyCut() async throws {
    let server = try ScriptedServer.sockets { socket in
      var bytes = SocketPeer.frame(SocketPeer.Opcode.text, Array(#"{"type":"connection_ack"}"#.utf8))
      try socket.upgrade(and: bytes)
      guard let id = try socket.id(of: "subscribe") else { return }
      bytes = SocketPeer.frame(SocketPeer.Opcode.text, Array(SocketPeer.next(id, 1).utf8))
      for byte in bytes {
        try socket.peer.send([byte])
        socket.peer.pause(milliseconds: 1)
      }
      try socket.complete(id)
      _ = socket.closeCode()
    }
    let outcome = try await ApolloClient.socket(server.socketURL).counts()
    #expect(outcome.error == nil)
    #expect(outcome.counts == [1])
  }

  private static let large = Array(repeating: UInt8(ascii: " "), count: 5000)

  @Test("a message that is too large is refused, in one frame or in many, with code 1009", arguments: [true, false])
  func tooLarge(inOne: Bool) async throws {
    let journal = Journal()
    let small: Change = { $0.maximumMessageBytes = 4096 }
    let (outcome, server) = try await outcome(small) { socket, id in
      try socket.next(id, 1)
      if inOne {
        try socket.send(SocketPeer.Opcode.text, Self.large)
      } else {
        try socket.send(SocketPeer.Opcode.text, Array(Self.large.prefix(1000)), isLast: false)
        for _ in 0..<4 { try socket.send(SocketPeer.Opcode.continuation, Array(Self.large.prefix(1000)), isLast: false) }
      }
      journal.note("\(socket.closeCode() ?? 0)")
    }
    #expect(outcome.counts == [1])
    #expect(outcome.code == .messageTooLarge)
    #expect(server.connections == 1)
    try await journal.wait(for: 1)
    #expect(journal.entries == ["1009"])
  }

  @Test("a frame that declares a huge length is refused before it arrives")
  func hugeClaim() async throws {
    let (outcome, _) = try await outcome { socket, _ in
      try socket.peer.send([0x81, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3])
    }
    #expect(outcome.code == .messageTooLarge || outcome.code == .protocolViolation, "\(outcome)")
  }

  @Test(
    "frames against the rules end the connection with code 1002",
    arguments: [
      ("a masked frame", [0x81, 0x82, 1, 2, 3, 4, 5, 6]), ("a reserved bit", [0xC1, 2, 0x7B, 0x7D]),
      ("an unknown kind", [0x83, 0]), ("a continuation of nothing", [0x80, 0]), ("a ping of 200 bytes", [0x89, 126, 0, 200]),
      ("a ping in pieces", [0x09, 0]), ("a message inside of another", [0x01, 1, 0x7B, 0x81, 1, 0x7D]),
      ("half a close code", [0x88, 1, 3]), ("the close code 1005", [0x88, 2, 3, 237]), ("the close code 999", [0x88, 2, 3, 231]),
      ("the close code 1015", [0x88, 2, 3, 247]), ("the close code 5000", [0x88, 2, 19, 136]),
    ] as [(String, [UInt8])])
  func violations(name: String, bytes: [UInt8]) async throws {
    let journal = Journal()
    let (outcome, server) = try await outcome { socket, _ in
      try socket.peer.send(bytes + (bytes == [0x89, 126, 0, 200] ? Array(repeating: 0, count: 200) : []))
      journal.note("\(socket.closeCode() ?? 0)")
    }
    #expect(outcome.code == .protocolViolation, "\(outcome)")
    #expect(server.connections == 1)
    try await journal.wait(for: 1)
    #expect(journal.entries == ["1002"])
  }

  @Test("a binary message is refused with code 1003")
  func binary() async throws {
    let journal = Journal()
    let (outcome, _) = try await outcome { socket, id in
      try socket.send(SocketPeer.Opcode.binary, Array(SocketPeer.next(id, 1).utf8))
      journal.note("\(socket.closeCode() ?? 0)")
    }
    #expect(outcome.code == .invalidMessage)
    try await journal.wait(for: 1)
    #expect(journal.entries == ["1003"])
  }

  @Test(
    "text that is not UTF-8 is refused with code 1007",
    arguments: [
      (SocketPeer.Opcode.text, Array(#"{"type":""#.utf8) + [0xFF] + Array(#""}"#.utf8)),
      (SocketPeer.Opcode.close, [3, 232, 0xFF]),
    ] as [(UInt8, [UInt8])])
  func notText(opcode: UInt8, payload: [UInt8]) async throws {
    let journal = Journal()
    let (outcome, _) = try await outcome { socket, _ in
      try socket.send(opcode, payload)
      journal.note("\(socket.closeCode() ?? 0)")
    }
    #expect(outcome.code == .invalidMessage)
    try await journal.wait(for: 1)
    #expect(journal.entries == ["1007"])
    #expect("\(outcome.error as Any)".contains("UTF-8"))
  }

  @Test(
    "a server that does not answer our ping is left, and one that does is kept", .rule("websocket.1"), arguments: [true, false])
  func keepAlive(answers: Bool) async throws {
    let journal = Journal()
    let pinging: Change = { configuration in
      configuration.pingInterval = .milliseconds(30)
      configuration.pongTimeout = .milliseconds(answers ? 20_000 : 60)
      configuration.reconnection.maximumAttempts = 0
    }
    let (outcome, _) = try await outcome(pinging) { socket, id in
      guard answers else { return socket.peer.waitForHangUp() }
      for _ in 0..<3 {
        _ = try socket.id(of: "ping")
        journal.note("ping")
        try socket.send(#"{"type":"pong"}"#)
      }
      try socket.next(id, 1)
      try socket.complete(id)
    }
    #expect(outcome.code == (answers ? nil : .keepAliveTimeout), "\(outcome)")
    #expect(journal.entries.count == (answers ? 3 : 0))
  }
}
