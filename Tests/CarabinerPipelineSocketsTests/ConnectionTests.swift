import CarabinerPipeline
import CarabinerPipelineSockets
import Foundation
import ScriptedServer
import ScriptedSocket
import TestTools
import Testing

@Suite("The connection of a WebSocketTransport of 0.3x", .timeLimit(.minutes(2)))
struct ConnectionTests {
  private let journal = Journal()

  @Test(
    "connection_init carries the payload, and no member for nil", .rule("legacy.11"),
    arguments: [([:], "{}"), (["token": "t"], #"{"token":"t"}"#), (nil, "none")] as [(JSONEncodableDictionary?, String)])
  func payload(payload: JSONEncodableDictionary?, text: String) async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      journal.note(socket.request.header("Sec-WebSocket-Protocol") ?? "")
      journal.note(socket.request.header("apollographql-client-name") ?? "")
      journal.note(socket.request.header("X-Team") ?? "")
      journal.note(try socket.begin()?.description ?? "none")
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server, connectOnInit: true, payload: payload, headers: ["X-Team": "red"])
    #expect(await journal.entries(4) == ["graphql-ws", transport.clientName, "red", text])
    #expect(await eventually { transport.isConnected() })
  }

  @Test("the connection opens when the transport is made, or with the first operation, or on request", .rule("legacy.12"))
  func connectOnInit() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.answerAll()
    }
    let eager = WebSocketTransport.to(server, connectOnInit: true) { $0.idleTimeout = .zero }
    #expect(await eventually { eager.isConnected() })
    #expect(await eager.start(CountQuery()).call.words(1) == ["1"])
    // The idle time does not end it: the next operation has the next id of the same connection.
    #expect(await eager.start(CountQuery()).call.words(1) == ["2"])
    #expect(server.connections == 1)
    let lazy = WebSocketTransport.to(server)
    #expect(!lazy.isConnected())
    #expect(await lazy.start(CountQuery()).call.words(1) == ["1"])
    #expect(server.connections == 2)
    let asked = WebSocketTransport.to(server)
    asked.resumeWebSocketConnection()
    #expect(await eventually { asked.isConnected() })
    #expect(server.connections == 3)
  }

  @Test("operations wait for the acknowledgement in their order", .rule("legacy.13"))
  func order() async throws {
    let started = Gate()
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.upgrade()
      _ = try socket.message()
      started.wait()
      try socket.send(#"{"type":"connection_ack"}"#)
      while let message = try socket.message() {
        journal.note(message["payload"]?["operationName"]?.string ?? "")
        try socket.data(message["id"]?.string ?? "", 1)
      }
    }
    let transport = WebSocketTransport.to(server)
    let names = (1...20).map { "Count\($0)" }
    let calls = names.map { transport.start(Count(operationName: $0)) }
    started.open()
    #expect(await journal.entries(20) == names)
    for call in calls { #expect(await call.call.words(1) == ["1"]) }
  }

  @Test(
    "a lost connection is opened again, subscriptions and queries are sent again, and no handler sees an error",
    .rule("legacy.20"))
  func reconnect() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      guard let first = try socket.start(), let second = try socket.start() else { return }
      journal.note("\(first) \(second)")
      try socket.data(first, socket.peer.number)
      guard socket.peer.number == 2 else { return }
      try socket.data(second, 7)
      try socket.complete(second)
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server)
    let subscription = transport.start(Count())
    let query = transport.start(CountQuery())
    #expect(await query.call.words(1) == ["7"])
    #expect(await subscription.call.words(2) == ["1", "2"])
    #expect(journal.entries == ["1 2", "3 4"])
  }

  @Test("a mutation that was sent when the connection broke is not sent again", .rule("legacy.20"))
  func mutation() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      journal.note(try socket.start() ?? "gone")
    }
    let transport = WebSocketTransport.to(server)
    #expect(await transport.start(CountMutation()).call.words(1) == ["connectionLost sent"])
    #expect(journal.entries == ["1"])
  }

  @Test("without reconnecting each operation fails once, and a later one connects again", .rule("legacy.21"))
  func noReconnect() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      if socket.peer.number > 1 { return try socket.answerAll() }
      _ = try socket.start()
      _ = try socket.start()
    }
    let transport = WebSocketTransport.to(server, reconnect: false, connectOnInit: true)
    let calls = [transport.start(Count()), transport.start(CountQuery())]
    for call in calls { #expect(await call.call.words(1) == ["connectionLost"]) }
    #expect(await transport.start(CountQuery()).call.words(1) == ["3"])
    for call in calls { #expect(call.call.words.count == 1) }
    #expect(server.connections == 2)
  }

  @Test("a pause closes with 1000 and is silent, and resuming sends what waited", .rule("legacy.22"))
  func pause() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      guard let first = try socket.start() else { return }
      try socket.data(first, socket.peer.number)
      if socket.peer.number == 1 {
        journal.note("closed with \(socket.closeCode() ?? 0)")
      } else if let second = try socket.start() {
        try socket.data(second, 9)
        try socket.readToEnd()
      }
    }
    let transport = WebSocketTransport.to(server)
    let first = transport.start(Count())
    #expect(await first.call.words(1) == ["1"])
    transport.pauseWebSocketConnection()
    #expect(await journal.entries(1) == ["closed with 1000"])
    #expect(await eventually { !transport.isConnected() })
    let second = transport.start(Count())
    #expect(server.connections == 1)
    transport.resumeWebSocketConnection()
    #expect(await second.call.words(1) == ["9"])
    // Each operation has its results in order. Operations are independent of each other.
    #expect(await first.call.words(2) == ["1", "2"])
  }

  @Test("closing ends the connection with 1000, and every operation fails once, later ones too", .rule("legacy.23"))
  func close() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      try socket.data(id, 1)
      while let frame = socket.frame() {
        if frame.opcode == SocketPeer.Opcode.close { return journal.note("\(frame.payload.map { Int($0) })") }
        let type = try JSONValue(parsing: frame.payload)["type"]?.string
        if type == "connection_terminate" { journal.note("connection_terminate") }
      }
    }
    let transport = WebSocketTransport.to(server)
    let cancelled = transport.start(Count())
    #expect(await cancelled.call.words(1) == ["1"])
    let waiting = transport.start(CountQuery())
    cancelled.cancellable.cancel()
    transport.closeConnection()
    transport.closeConnection()
    #expect(await waiting.call.words(1) == ["shutDown"])
    #expect(await transport.start(Count()).call.words(1) == ["shutDown"])
    // 1000 in two bytes.
    #expect(await journal.entries(2) == ["connection_terminate", "[3, 232]"])
    transport.resumeWebSocketConnection()
    #expect(await transport.start(CountQuery()).call.words(1) == ["shutDown"])
    #expect(cancelled.call.words == ["1"])
    #expect(waiting.call.words == ["shutDown"])
  }

  @Test("an error of closing arrives, also if the transport is released at once", .rule("legacy.23"))
  func closeAndRelease() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.readToEnd()
    }
    var transport: WebSocketTransport? = .to(server, connectOnInit: true)
    let call = try #require(transport?.start(Count()))
    transport?.closeConnection()
    transport = nil
    #expect(await call.call.words(1) == ["shutDown"])
  }

  @Test("the next connection has the new headers and payload, and opens when the old one is gone", .rule("legacy.24"))
  func credentials() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      let token = socket.request.header("X-Token") ?? "none"
      journal.note("open \(token)")
      let payload = try socket.begin()?.description ?? ""
      guard let id = try socket.start() else { return }
      try socket.data(id, socket.peer.number)
      try socket.readToEnd()
      journal.note("closed \(token) \(payload)")
    }
    let transport = WebSocketTransport.to(server, headers: ["X-Token": "a"])
    let subscription = transport.start(Count())
    #expect(await subscription.call.words(1) == ["1"])
    transport.updateHeaderValues(["X-Token": "b"])
    #expect(await subscription.call.words(2) == ["1", "2"])
    transport.updateHeaderValues(["X-Token": nil])
    #expect(await subscription.call.words(3) == ["1", "2", "3"])
    transport.updateConnectingPayload(["user": "x"])
    #expect(await subscription.call.words(4) == ["1", "2", "3", "4"])
    transport.updateHeaderValues(["X-Token": "a\r\nb: c"])
    #expect(
      journal.entries == [
        "open a", "closed a {}", "open b", "closed b {}", "open none", "closed none {}", "open none",
      ])
  }

  @Test("isConnected follows the connection, and the handler of a ping runs when the ping is written", .rule("legacy.26"))
  func ping() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      while let frame = socket.frame() {
        if frame.opcode == SocketPeer.Opcode.ping { journal.note("\(frame.payload.count)") }
        if journal.entries.count(where: { $0 != "written" }) == 2 { return }
      }
    }
    let transport = WebSocketTransport.to(server, reconnect: false, connectOnInit: true)
    #expect(await eventually { transport.isConnected() })
    transport.ping(data: Data("hello".utf8)) { [journal] in journal.note("written") }
    transport.ping(data: Data(repeating: 1, count: 1000))
    #expect(await journal.entries(3).sorted() == ["125", "5", "written"])
    #expect(await eventually { !transport.isConnected() })
    transport.initServer()
    transport.enableSOCKSProxy = true
    #expect(!transport.enableSOCKSProxy)
  }

  @Test("releasing the transport closes the connection, and a subscription ends without a callback", .rule("legacy.27"))
  func release() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      try socket.data(id, 1)
      journal.note("closed with \(socket.closeCode() ?? 0)")
    }
    var transport: WebSocketTransport? = .to(server, connectOnInit: true)
    weak let released = transport
    let call = Call()
    let subscription = try #require(transport?.start(Count(), call: call))
    #expect(await call.words(1) == ["1"])
    transport = nil
    #expect(await eventually { released == nil })
    #expect(await journal.entries(1) == ["closed with 1000"])
    #expect(call.words == ["1"])
    subscription.cancellable.cancel()
  }

  @Test("a query keeps the connection until it is answered", .rule("legacy.27"))
  func queryKeeps() async throws {
    let released = Gate()
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      journal.note("asked")
      released.wait()
      try socket.data(id, 5)
      journal.note("closed with \(socket.closeCode() ?? 0)")
    }
    var transport: WebSocketTransport? = .to(server)
    let call = try #require(transport?.start(CountQuery()))
    #expect(await journal.entries(1) == ["asked"])
    transport = nil
    released.open()
    #expect(await call.call.words(1) == ["5"])
    #expect(await journal.entries(2) == ["asked", "closed with 1000"])
  }

  @Test("while a hundred threads subscribe and cancel, closing gives each operation at most one error", .rule("legacy.23"))
  func threads() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      while let id = try socket.start() { try socket.data(id, 1) }
    }
    let transport = WebSocketTransport.to(server, connectOnInit: true)
    let calls = await withTaskGroup(of: Call.self) { group in
      for number in 0..<100 {
        group.addTask {
          await withCheckedContinuation { done in
            Thread.detachNewThread {
              let started = transport.start(Count())
              if number == 50 { transport.closeConnection() }
              if number.isMultiple(of: 2) { started.cancellable.cancel() }
              done.resume(returning: started.call)
            }
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let last = transport.start(Count())
    #expect(await last.call.words(1) == ["shutDown"])
    for call in calls {
      #expect(call.words.count { $0 != "1" } <= 1, "\(call.words)")
      #expect(Set(call.words).isSubset(of: ["1", "shutDown"]), "\(call.words)")
    }
  }
}

/// Notes what it hears.
final class Listener: WebSocketTransportDelegate {
  private let journal: Journal

  init(_ journal: Journal) { self.journal = journal }

  func webSocketTransportDidConnect(_ webSocketTransport: WebSocketTransport) { journal.note("connect") }
  func webSocketTransportDidReconnect(_ webSocketTransport: WebSocketTransport) { journal.note("reconnect") }

  func webSocketTransport(_ webSocketTransport: WebSocketTransport, didDisconnectWithError error: (any Error)?) {
    journal.note("disconnect \((error as? WebSocketError)?.code.rawValue ?? "nil")")
  }
}

@Suite("The delegate of a WebSocketTransport of 0.3x", .timeLimit(.minutes(2)))
struct SocketDelegateTests {
  @Test(
    "the delegate hears of connect, disconnect and reconnect, in that order, and of closing without an error", .rule("legacy.25"))
  func order() async throws {
    let heard = Gate()
    let server = try ScriptedServer.sockets { socket in
      if socket.peer.number == 1 { heard.wait() }
      try socket.begin()
      // An answer shows that the acknowledgement arrived.
      guard let id = try socket.start() else { return }
      try socket.data(id, 1)
      if socket.peer.number > 1 { try socket.readToEnd() }
    }
    let journal = Journal()
    let listener = Listener(journal)
    let transport = WebSocketTransport.to(server, connectOnInit: true)
    transport.delegate = listener
    heard.open()
    let subscription = transport.start(Count())
    #expect(await journal.entries(3) == ["connect", "disconnect connectionLost", "reconnect"])
    #expect(transport.isConnected())
    transport.closeConnection()
    #expect(await journal.entries(4).last == "disconnect nil")
    // The result of the second connection may come before or not at all.
    #expect(await eventually { subscription.call.words.last == "shutDown" })
    #expect(transport.delegate === listener)
  }

  @Test("the transport keeps no delegate, and may be released in its methods", .rule("legacy.25", "legacy.27"))
  func weakDelegate() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server)
    var listener: Listener? = Listener(Journal())
    transport.delegate = listener
    #expect(transport.delegate != nil)
    listener = nil
    #expect(transport.delegate == nil)
    transport.resumeWebSocketConnection()
    #expect(await eventually { transport.isConnected() })
  }
}
