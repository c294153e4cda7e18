import Carabiner
import CarabinerCurl
import Foundation
import Glibc
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Timeouts, cancellation and back-pressure", .overBothEngines)
struct WaitingTests {
  // MARK: Timeouts

  @Test("a body that drips past the total timeout is given up", arguments: [true, false])
  func drip(inBody: Bool) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\n\(inBody ? "Content-Length: 1000\r\n\r\n" : "X-Drip: ")")
      while true {
        try peer.send("x")
        peer.pause(milliseconds: 10)
      }
    })
    let transport = try CurlTransport.tested()
    let start = ContinuousClock.now
    let error = try await transport.failure("\(server.origin)/drip", timeout: 1)
    #expect(error.code == .timedOut)
    #expect(error.message.contains("raise the timeout"))
    #expect(error.mayHaveBeenSent && error.responseBegan)
    #expect(ContinuousClock.now - start >= .seconds(1))
    #expect(await eventually { server.openConnections == 0 })
    try await transport.expectIntact(server)
  }

  @Test("the configured timeout holds where the request says nothing")
  func configured() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in peer.waitForHangUp() })
    var configuration = CurlTransport.Configuration()
    configuration.totalTimeout = 0.2
    let transport = try CurlTransport.tested(configuration)
    let error = try await transport.failure("\(server.origin)/silent", timeout: 0)
    #expect(error.code == .timedOut)
    #expect(!error.responseBegan)
    #expect(await eventually { server.hangUps == 1 })
  }

  @Test("times too short and too long to count in milliseconds are neither endless nor fatal")
  func extremes() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in peer.waitForHangUp() })
    for connectTimeout in [0, 1e-9, 1e300, .infinity] {
      var configuration = CurlTransport.Configuration()
      configuration.connectTimeout = connectTimeout
      configuration.totalTimeout = .infinity
      let transport = try CurlTransport.tested(configuration)
      #expect(try await transport.failure("\(server.origin)/silent", timeout: 1e-9).code == .timedOut)
    }
  }

  @Test("a place that never accepts is given up after the connect timeout")
  func connect() async throws {
    let listener = try Listener(backlog: 0)
    // The queue holds one connection more than the backlog. Further connections wait.
    let fillers = (0..<4).map { _ in Listener.connect(to: listener.port) }
    defer { for filler in fillers { close(filler) } }
    try await Task.sleep(for: .milliseconds(20))
    var configuration = CurlTransport.Configuration()
    configuration.connectTimeout = 0.3
    let transport = try CurlTransport.tested(configuration)
    let error = try await transport.failure("http://127.0.0.1:\(listener.port)/")
    #expect(error.code == .timedOut, "\(error)")
    #expect(!error.mayHaveBeenSent)
    #expect(try await transport.transferCount == 0)
  }

  // MARK: Cancellation

  @Test("cancelling before the head closes the connection and is thrown once", arguments: [true, false])
  func cancelBeforeHead(onLoop: Bool) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in peer.waitForHangUp() })
    let transport = try CurlTransport.tested()
    let task = Task(executorPreference: onLoop ? transport.loop : nil) { try await transport.fetch("\(server.origin)/silent") }
    #expect(await eventually { server.requests.count == 1 })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await eventually { server.hangUps == 1 && server.openConnections == 0 })
    try await transport.expectIntact(server)
  }

  @Test("cancelling in the body closes the connection and is thrown once", arguments: [true, false])
  func cancelInBody(onLoop: Bool) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfirst")
      peer.waitForHangUp()
    })
    let transport = try CurlTransport.tested()
    let url = try #require(URL(string: "\(server.origin)/half"))
    let chunks = Tally()
    let task = Task(executorPreference: onLoop ? transport.loop : nil) {
      let response = try await transport.send(Carabiner.URLRequest(url: url))
      var iterator = response.chunks.makeAsyncIterator()
      var cancellations = 0
      var isOver = false
      while !isOver {
        do {
          isOver = try await iterator.next() == nil
          chunks.value.withLock { $0 += 1 }
        } catch is CancellationError {
          cancellations += 1
        }
      }
      return cancellations
    }
    #expect(await eventually { chunks.value.withLock { $0 } == 1 })
    task.cancel()
    #expect(try await task.value == 1)
    #expect(await eventually { server.hangUps == 1 && server.openConnections == 0 })
    try await transport.expectIntact(server)
  }

  @Test("cancelling at any moment ends in one outcome and leaves nothing behind")
  func cancelAnytime() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
      peer.pause(milliseconds: 1)
      try peer.send("answer")
    })
    let transport = try CurlTransport.tested()
    let outcomes = await withTaskGroup(of: String.self) { group in
      for number in 0..<100 {
        group.addTask {
          let task = Task(executorPreference: number % 2 == 0 ? transport.loop : nil) {
            try await transport.fetch(server.origin).text
          }
          try? await Task.sleep(for: .microseconds(number * 37))
          task.cancel()
          do { return try await task.value } catch is CancellationError { return "cancelled" } catch { return "\(error)" }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count == 100)
    #expect(Set(outcomes).isSubset(of: ["answer", "cancelled"]), "\(Set(outcomes))")
    #expect(outcomes.contains("cancelled"))
    try await transport.expectIntact(server)
  }

  @Test("a body that is not read is dropped with its response", arguments: [0, 1])
  func dropped(chunksRead: Int) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfirst")
      peer.waitForHangUp()
    })
    let transport = try CurlTransport.tested()
    let url = try #require(URL(string: "\(server.origin)/half"))
    do {
      let response = try await transport.send(Carabiner.URLRequest(url: url))
      #expect(response.response.statusCode == 200)
      var iterator = response.chunks.makeAsyncIterator()
      for _ in 0..<chunksRead { #expect(try await iterator.next() == Data("first".utf8)) }
    }
    #expect(await eventually { server.hangUps == 1 && server.openConnections == 0 })
    try await transport.expectIntact(server)
  }

  @Test("a transport that is released fails the running operations with an error")
  func shutDown() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
      peer.waitForHangUp()
    })
    let url = try #require(URL(string: "\(server.origin)/half"))
    let response = try await CurlTransport.tested().send(Carabiner.URLRequest(url: url))
    let error = try await #require(throws: TransportError.self) { _ = try await response.chunks.collected() }
    #expect(error.message.contains("shut down"))
    #expect(await eventually { server.hangUps == 1 })
  }

  // MARK: Back-pressure

  @Test("a slow consumer makes the server wait, and gets every byte in the end")
  func backPressure() async throws {
    let total = 40 << 20
    let block = (0..<65536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let server = try ScriptedServer(otherwise: { _, peer in
      peer.limitSendBuffer(to: 65536)
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
      for _ in 0..<(total / block.count) { try peer.send(block) }
    })
    let transport = try CurlTransport.tested()
    var request = Carabiner.URLRequest(url: try #require(URL(string: "\(server.origin)/large")))
    // With a sanitizer on a busy machine, 40 MiB take long.
    request.timeoutInterval = 600
    let response = try await transport.send(request)
    // When the kernel's buffers are full, the server can send nothing more.
    var sent = -1
    while server.bytesSent != sent {
      sent = server.bytesSent
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(sent < 16 << 20, "the kernel's buffers and ours, not the body")
    #expect(try await transport.transferCount == 1)
    let pattern = Data(block + block)
    var received = 0
    for try await chunk in response.chunks {
      var rest = chunk
      while !rest.isEmpty {
        let offset = received % block.count
        let piece = rest.prefix(block.count)
        try #require(piece == pattern[offset..<(offset + piece.count)], "at \(received)")
        received += piece.count
        rest = rest.dropFirst(piece.count)
      }
    }
    #expect(received == total)
    try await transport.expectIntact(server)
    #expect(server.connections == 1)
  }
}

final class Tally: Sendable {
  let value = Mutex(0)
}
