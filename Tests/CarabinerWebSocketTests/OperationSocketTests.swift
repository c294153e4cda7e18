import Carabiner
import CarabinerWebSocket
import CarabinerWire
import Foundation
import ScriptedServer
import ScriptedSocket
import Testing

@Suite("The socket that transports of older generations use", .timeLimit(.minutes(5)))
struct OperationSocketTests {
  private let journal = Journal()

  private func socket(
    _ url: URL, headers: HTTPHeaders = [:], keepsConnection: Bool = false,
    _ change: (inout WebSocketTransport.Configuration) -> Void = { _ in }
  ) throws -> OperationSocket {
    var configuration = WebSocketTransport.Configuration()
    configuration.reconnection.baseDelay = .milliseconds(5)
    configuration.reconnection.jitter = { 0 }
    change(&configuration)
    return try OperationSocket(url: url, headers: headers, configuration: configuration, keepsConnection: keepsConnection) {
      [journal] change in
      switch change {
      case .connected, .reconnected: journal.note("connected")
      case .disconnected(let error): journal.note("disconnected \(error.map { "\($0.code)" } ?? "in order")")
      }
    }
  }

  private func payload(_ operation: some GraphQLOperation) -> [UInt8] { Array(#"{"query":"\#(operation.document)"}"#.utf8) }

  /// A server that notes the header X-Team of each connection, and ends each operation in this way.
  private func server(_ answer: @escaping @Sendable (SocketPeer, String) throws -> Void) throws -> ScriptedServer {
    try ScriptedServer.sockets { [journal] socket in
      journal.note("team \(socket.request.header("X-Team") ?? "none")")
      try socket.begin()
      while let message = try socket.message() {
        guard let id = message["id"]?.string, message["type"]?.string == "subscribe" else { continue }
        try answer(socket, id)
      }
    }
  }

  @Test("a URL of another scheme and a malformed header are refused when the socket is made")
  func refused() throws {
    for (url, headers, code) in [
      ("http://127.0.0.1:1", [:], WebSocketError.Code.unsupportedURL), ("ws://127.0.0.1:1", ["X-A": "a\r\nB: c"], .invalidHeader),
    ] as [(String, HTTPHeaders, WebSocketError.Code)] {
      let error = #expect(throws: WebSocketError.self) { try socket(try #require(URL(string: url)), headers: headers) }
      #expect(error?.code == code)
    }
  }

  @Test("results are pulled in order, and errors that end an operation are thrown")
  func results() async throws {
    let server = try server { socket, id in
      guard id == "1" else {
        return try socket.send(#"{"id":"\#(id)","type":"error","payload":[{"message":"no such field"}]}"#)
      }
      for count in 1...3 { try socket.next(id, count) }
      try socket.complete(id)
    }
    let socket = try socket(server.socketURL)
    var counts: [Int?] = []
    for try await response in socket.results(of: CountSubscription(), payload: payload(CountSubscription())) {
      counts.append(try response.data?.count)
    }
    #expect(counts == [1, 2, 3])
    let error = await #expect(throws: SubscriptionError.self) {
      for try await _ in socket.results(of: CountQuery(), payload: payload(CountQuery())) {}
    }
    #expect(error?.errors.map(\.message) == ["no such field"])
    socket.shutDown()
    try await journal.wait(for: 3)
    #expect(journal.entries == ["team none", "connected", "disconnected in order"])
  }

  @Test("an operation that is ended by its id throws CancellationError, and an unknown id ends nothing")
  func endByID() async throws {
    let server = try server { socket, id in try socket.next(id, 1) }
    let socket = try socket(server.socketURL)
    let results = socket.results(of: CountSubscription(), payload: payload(CountSubscription()))
    guard case .element(let first) = try await results.pull() else { return #expect(Bool(false), "there is no result") }
    #expect(try first.data?.count == 1)
    socket.end(id: "7")
    socket.end(id: "1")
    await #expect(throws: CancellationError.self) { _ = try await results.pull() }
  }

  @Test("other headers are used by a new connection, and malformed ones change nothing")
  func headers() async throws {
    let server = try server { socket, id in
      try socket.next(id, 1)
      try socket.complete(id)
    }
    let socket = try socket(server.socketURL, headers: ["X-Team": "red"], keepsConnection: true)
    func fetch() async throws {
      for try await _ in socket.results(of: CountQuery(), payload: payload(CountQuery())) {}
    }
    try await fetch()
    #expect(throws: WebSocketError.self) { try socket.changeHeaders { $0["X-Team"] = "blue\r\nX-Other: 1" } }
    try await fetch()
    #expect(journal.entries == ["team red", "connected"])
    try socket.changeHeaders { $0["X-Team"] = "green" }
    try await fetch()
    #expect(journal.entries.filter { $0.hasPrefix("team") } == ["team red", "team green"])
    #expect(
      journal.entries.filter { !$0.hasPrefix("team") } == ["connected", "disconnected in order", "connected"])
  }

  @Test("after it was shut down, operations fail with an error that says so")
  func shutDown() async throws {
    let server = try server { socket, id in try socket.next(id, 1) }
    let socket = try socket(server.socketURL)
    let results = socket.results(of: CountSubscription(), payload: payload(CountSubscription()))
    guard case .element = try await results.pull() else { return #expect(Bool(false), "there is no result") }
    socket.shutDown()
    let error = await #expect(throws: WebSocketError.self) { _ = try await results.pull() }
    #expect(error?.code == .shutDown)
    let late = socket.results(of: CountQuery(), payload: payload(CountQuery()))
    #expect(await #expect(throws: WebSocketError.self) { _ = try await late.pull() }?.code == .shutDown)
  }
}
