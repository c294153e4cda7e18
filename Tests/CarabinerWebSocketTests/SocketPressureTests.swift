import Carabiner
import CarabinerWebSocket
import CarabinerWire
import Foundation
import ScriptedServer
import ScriptedSocket
import TestTools
import Testing

@Suite("Much at once over WebSocket", .timeLimit(.minutes(5)))
struct SocketPressureTests {
  /// A server that sends this many results as fast as the client reads them.
  private func server(_ count: Int, padding: Int = 0) throws -> ScriptedServer {
    try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.id(of: "subscribe") else { return }
      let filler = padding == 0 ? "" : #","x":"\#(String(repeating: "x", count: padding))""#
      var bytes: [UInt8] = []
      for number in 0..<count {
        bytes += SocketPeer.frame(
          SocketPeer.Opcode.text,
          Array(#"{"id":"\#(id)","type":"next","payload":{"data":{"count":\#(number)\#(filler)}}}"#.utf8))
        if bytes.count > 1 << 16 {
          try socket.peer.send(bytes)
          bytes = []
        }
      }
      try socket.peer.send(bytes)
      try socket.complete(id)
      _ = socket.closeCode()
    }
  }

  @Test("a burst of 10,000 results loses nothing and keeps their order", .rule("websocket.2"))
  func burst() async throws {
    let server = try server(10_000)
    var next = 0
    for try await response in try ApolloClient.socket(server.socketURL).subscribe(subscription: CountSubscription()) {
      try #require(try response.data?.count == next)
      next += 1
    }
    #expect(next == 10_000)
  }

  @Test("while results are not read, no more input is read than fits into the buffers", .rule("chain.11"))
  func slowReader() async throws {
    let server = try server(4000, padding: 10_000)
    let client = try ApolloClient.socket(server.socketURL) { $0.maximumBufferedResults = 8 }
    let results = try client.subscribe(subscription: CountSubscription()).results
    guard case .element = try await results.pull() else {
      Issue.record("no result")
      return
    }
    // Waits until the server can send nothing more.
    var sent = -1
    while server.bytesSent != sent {
      sent = server.bytesSent
      try await Task.sleep(for: .milliseconds(300))
    }
    #expect(sent < 25_000_000, "forty megabytes wait, of which the buffers of the system take some")
    var count = 1
    for try await response in results {
      try #require(try response.data?.count == count)
      count += 1
    }
    #expect(count == 4000)
    #expect(server.bytesSent > 40_000_000)
  }

  @Test("a server that pings and does not read gets the last answer, and not all of them")
  func pings() async throws {
    let count = 600
    let filler = String(repeating: "x", count: 60_000)
    let (answers, continuation) = AsyncStream.makeStream(of: Int.self)
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.id(of: "subscribe") else { return }
      for number in 1...count { try socket.send(#"{"type":"ping","payload":{"n":\#(number),"x":"\#(filler)"}}"#) }
      // When the client receives this, it has received all pings.
      try socket.next(id, 1)
      while let message = try socket.message() {
        guard message["type"]?.string == "pong", let number = message["payload"]?["n"]?.int else { continue }
        continuation.yield(number)
        if number == count { break }
      }
      continuation.finish()
      _ = socket.closeCode()
    }
    let results = try ApolloClient.socket(server.socketURL).subscribe(subscription: CountSubscription()).results
    guard case .element = try await results.pull() else {
      Issue.record("no result")
      return
    }
    // The server can read before the client has read all pings, so only the last pong is certain.
    var numbers: [Int] = []
    for await number in answers { numbers.append(number) }
    #expect(numbers.last == count)
    #expect(numbers == numbers.sorted())
    #expect(numbers.count < count, "the buffers of the system take some, and one is kept")
    withExtendedLifetime(results) {}
  }

  @Test("a slow reader stops others only until it leaves: leaving the subscription frees the socket")
  func leavingFull() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.id(of: "subscribe") else { return }
      for number in 0..<2000 { try socket.next(id, number) }
      while let message = try socket.message() {
        guard message["type"]?.string == "subscribe", let id = message["id"]?.string else { continue }
        try socket.next(id, -1)
        try socket.complete(id)
      }
    }
    let client = try ApolloClient.socket(server.socketURL) { $0.maximumBufferedResults = 4 }
    do {
      let full = try client.subscribe(subscription: CountSubscription())
      guard case .element = try await full.results.pull() else {
        Issue.record("no result")
        return
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(try await client.fetch(query: CountQuery(), cachePolicy: .networkOnly).data?.count == -1)
  }

  @Test("cancelling twenty readers at any moment ends each of them, and their connections", .rule("chain.12"))
  func cancellations() async throws {
    let server = try server(1_000_000)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          let task = Task { try await ApolloClient.socket(server.socketURL).counts() }
          try? await Task.sleep(for: .milliseconds(number * 5))
          task.cancel()
          let outcome = try? await task.value
          #expect(outcome?.error is CancellationError, "\(String(describing: outcome?.error))")
        }
      }
    }
    let end = ContinuousClock.now + .seconds(60)
    while server.openConnections > 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(20)) }
    #expect(server.openConnections == 0)
  }
}
