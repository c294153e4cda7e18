import CarabinerPipeline
import CarabinerPipelineSockets
import Dispatch
import Foundation
import ScriptedServer
import ScriptedSocket
import TestTools
import Testing

/// Servers and settings that are wrong. Each one ends with one clear error, and none with a hang.
@Suite("Bad input to a WebSocketTransport of 0.3x", .timeLimit(.minutes(2)))
struct BadSocketInputTests {
  /// The words of a subscription to a server that does this after the operation was sent.
  private func words(_ count: Int = 1, _ script: @escaping @Sendable (SocketPeer, String) throws -> Void) async throws -> [String]
  {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      try script(socket, id)
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server)
    let words = await transport.start(Count()).call.words(count)
    return withExtendedLifetime(transport) { words }
  }

  @Test("connection_error in place of the acknowledgement fails the operation, and the delegate gets it")
  func refused() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.upgrade()
      _ = try socket.message()
      try socket.send(#"{"type":"connection_error","payload":{"message":"no"}}"#)
      try socket.readToEnd()
    }
    let journal = Journal()
    let listener = Listener(journal)
    let transport = WebSocketTransport.to(server)
    transport.delegate = listener
    #expect(await transport.start(Count()).call.words(1) == ["initialisationRefused"])
    #expect(await journal.entries(1) == ["disconnect initialisationRefused"])
    #expect(!transport.isConnected())
  }

  @Test("without an acknowledgement the operation fails")
  func noAcknowledgement() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.upgrade()
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server) { $0.acknowledgementTimeout = .milliseconds(50) }
    #expect(await transport.start(Count()).call.words(1) == ["acknowledgementTimeout"])
  }

  @Test("a keep-alive before the acknowledgement changes nothing")
  func earlyKeepAlive() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.upgrade()
      _ = try socket.message()
      try socket.send(#"{"type":"ka"}"#)
      try socket.send(#"{"type":"connection_ack"}"#)
      try socket.answerAll()
    }
    #expect(await WebSocketTransport.to(server).start(CountQuery()).call.words(1) == ["1"])
  }

  @Test(
    "a message that is not one of the protocol closes the connection with an error", .rule("legacy.19"),
    arguments: ["{", "[]", #"{"id":1,"type":"data","payload":{"data":{"count":1}}}"#])
  func malformed(message: String) async throws {
    #expect(try await words { socket, _ in try socket.send(message) } == ["invalidMessage"])
  }

  @Test("a message of an unknown type affects no operation", .rule("legacy.19"))
  func unknownType() async throws {
    let words = try await words { socket, id in
      try socket.send(#"{"type":"nonsense"}"#)
      try socket.send(#"{"id":"\#(id)","type":"data","payload":{"data":{"count":1}}}"#)
    }
    #expect(words == ["1"])
  }

  @Test(
    "a result without payload, or with one that is not a response, fails its operation",
    arguments: ["", #","payload":7"#])
  func noResponse(payload: String) async throws {
    let words = try await words { socket, id in try socket.send(#"{"id":"\#(id)","type":"data"\#(payload)}"#) }
    #expect(words.count == 1 && words[0] != "no data", "\(words)")
  }

  @Test("binary frames and frames over the limit are refused")
  func frames() async throws {
    #expect(try await words { socket, _ in try socket.send(SocketPeer.Opcode.binary, [1, 2]) } == ["invalidMessage"])
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      try socket.send(#"{"id":"\#(id)","type":"data","payload":{"data":{"a":"\#(String(repeating: "a", count: 5000))"}}}"#)
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server) { $0.maximumMessageBytes = 1000 }
    #expect(await transport.start(Count()).call.words(1) == ["messageTooLarge"])
  }

  @Test(
    "a close code that another connection would repeat is the error of each operation, and the server is left",
    .rule("legacy.21"),
    arguments: [
      (4400, "badRequest"), (4401, "unauthorized"), (4403, "forbidden"), (4406, "subprotocolRefused"), (4409, "subscriberExists"),
      (4429, "tooManyInitialisations"), (4500, "serverFailed"),
    ] as [(UInt16, String)])
  func fatalClosing(number: UInt16, code: String) async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard try socket.start() != nil, try socket.start() != nil, try socket.start() != nil else { return }
      try socket.close(number, "no")
      try socket.readToEnd()
    }
    let journal = Journal()
    let listener = Listener(journal)
    let transport = WebSocketTransport.to(server)
    transport.delegate = listener
    let calls = [transport.start(Count()).call, transport.start(CountQuery()).call, transport.start(CountMutation()).call]
    #expect(await calls[0].words(1) == [code])
    #expect(await calls[1].words(1) == [code])
    #expect(await calls[2].words(1) == ["\(code) sent"])
    #expect(await journal.entries(2) == ["connect", "disconnect \(code)"])
    #expect(server.connections == 1 && !transport.isConnected())
  }

  @Test(
    "after any other close code a subscription goes on over a new connection, and its handler hears nothing", .rule("legacy.20"),
    arguments: [4408, 4499, 4999, 1011] as [UInt16])
  func passingClosing(number: UInt16) async throws {
    let connections = Journal()
    let server = try ScriptedServer.sockets { socket in
      connections.note("connection")
      let isFirst = connections.entries.count == 1
      try socket.begin()
      guard isFirst, try socket.start() != nil else { return try socket.answerAll() }
      try socket.close(number, "try again")
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server)
    #expect(await transport.start(Count()).call.words(1) == ["2"])
    #expect(server.connections == 2)
  }

  @Test(
    "without reconnecting, any close code is the error of the operation", .rule("legacy.21"),
    arguments: [(4408, "acknowledgementTimeout"), (4499, "closed")] as [(UInt16, String)])
  func passingClosingOnce(number: UInt16, code: String) async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard try socket.start() != nil else { return }
      try socket.close(number)
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server, reconnect: false)
    #expect(await transport.start(Count()).call.words(1) == [code])
    #expect(server.connections == 1)
  }

  @Test("a message nested 100,000 levels deep closes the connection with an error")
  func nested() async throws {
    let (opening, closing) = (String(repeating: "[", count: 100_000), String(repeating: "]", count: 100_000))
    for data in [#"{"a":\#(opening)\#(closing)}"#, opening] {
      let words = try await words { socket, id in
        try socket.send(#"{"id":"\#(id)","type":"data","payload":{"data":\#(data)}}"#)
      }
      #expect(words == ["invalidMessage"])
    }
  }

  @Test("a server that closes after each acknowledgement is left after the core's number of attempts")
  func endless() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.close(4500)
    }
    let transport = WebSocketTransport.to(server) { $0.reconnection.maximumAttempts = 3 }
    #expect(await transport.start(Count()).call.words(1).count == 1)
    #expect(server.connections <= 4)
  }

  @Test(
    "a URL of http and a malformed header fail each operation",
    arguments: [("http://127.0.0.1:1", "x", "unsupportedURL"), ("ws://127.0.0.1:1", "a\r\nb: c", "invalidHeader")])
  func settings(url: String, header: String, code: String) async throws {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.headers["X-Team"] = header
    let transport = WebSocketTransport(request: request)
    for _ in 0..<2 { #expect(await transport.start(Count()).call.words(1) == [code]) }
    transport.pauseWebSocketConnection()
    transport.resumeWebSocketConnection()
    transport.closeConnection()
    #expect(!transport.isConnected())
  }

  @Test("a slow handler slows the server down, so that few of 10,000 results are in memory")
  func burst() async throws {
    let blocked = Gate()
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      let filler = String(repeating: "x", count: 2000)
      for count in 1...10_000 {
        try socket.send(#"{"id":"\#(id)","type":"data","payload":{"data":{"count":\#(count),"f":"\#(filler)"}}}"#)
      }
      try socket.complete(id)
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server) { $0.maximumBufferedResults = 16 }
    let call = Call()
    _ = transport.send(operation: Count(), callbackQueue: DispatchQueue(label: "slow")) { result in
      call.add(result)
      if call.words.count == 1 { blocked.wait() }
    }
    // The server cannot send all while the handler waits: 20 MB do not fit into the buffers of two sockets.
    #expect(await call.words(1) == ["1"])
    #expect(server.bytesSent < 20_000_000)
    blocked.open()
    #expect(await call.words(10_000) == (1...10_000).map { "\($0)" })
  }
}
