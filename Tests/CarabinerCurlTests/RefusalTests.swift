import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import Synchronization
import Testing

@Suite("Refusals of the transport before or without a server", .overBothEngines)
struct RefusalTests {
  private func send(_ url: String, headers: HTTPHeaders = [:]) async throws -> TransportError? {
    let transport = try CurlTransport.tested()
    let request = Carabiner.URLRequest(url: try #require(URL(string: url)), headers: headers, httpBody: Data("{}".utf8))
    do {
      _ = try await transport.send(request)
      return nil
    } catch let error as TransportError {
      return error
    }
  }

  @Test("a port without a listener is refused with its address")
  func refused() async throws {
    let error = try #require(await send("http://127.0.0.1:1/graphql"))
    #expect(error.code == .cannotConnect)
    #expect(error.message.contains("127.0.0.1:1"))
    #expect(!error.mayHaveBeenSent)
  }

  @Test("only http and https are supported", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/"])
  func schemes(url: String) async throws {
    #expect(try await send(url)?.code == .unsupportedURL)
  }

  @Test("a header that would end its line is refused", arguments: ["a\r\nb", "a\nb", "a\u{0}b", "a\u{1}b"])
  func headers(value: String) async throws {
    #expect(try await send("http://127.0.0.1:1/", headers: ["X-Bad": value])?.code == .invalidHeader)
  }

  @Test(
    "a method that a server could read as more than one is refused, and nothing is sent",
    arguments: ["GET /x HTTP/1.1\r\nHost: h\r\n\r\nGET", "GET /x", "G\nET", "", "CONNECT"])
  func methods(method: String) async throws {
    let server = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: request.target) })
    let transport = try CurlTransport.tested()
    for body in [nil, "{}"] {
      let error = await #expect(throws: TransportError.self) {
        try await transport.fetch("\(server.origin)/from", method: method, body: body)
      }
      #expect(error?.code == .invalidMethod)
      #expect(error?.mayHaveBeenSent == false)
    }
    #expect(server.connections == 0)
    try await transport.expectIntact(server)
  }

  @Test("a cancelled task sends nothing")
  func cancelled() async throws {
    let transport = try CurlTransport.tested()
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await transport.send(Carabiner.URLRequest(url: url))
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}

@Suite("The event loop")
struct EventLoopTests {
  @Test("timers fire in the order of their times, and a cancelled one does not")
  func timers() async throws {
    let loop = try EventLoop()
    let order = Mutex<[Int]>([])
    let never = loop.schedule(after: .milliseconds(10)) { order.withLock { $0.append(99) } }
    loop.cancel(never)
    for delay in [30, 10, 20] {
      loop.schedule(after: .milliseconds(delay)) { order.withLock { $0.append(delay) } }
    }
    await withCheckedContinuation { done in loop.schedule(after: .milliseconds(60)) { done.resume() } }
    #expect(order.withLock { $0 } == [10, 20, 30])
    loop.stop()
  }

  @Test("tasks that prefer the loop run on its thread")
  func executor() async throws {
    let loop = try EventLoop()
    let isOnLoop = await Task(executorPreference: loop) {
      await Task.yield()
      return loop.isCurrent
    }.value
    #expect(isOnLoop)
    #expect(!loop.isCurrent)
    loop.stop()
  }

  @Test("a task that prefers a loop that has stopped still runs to its end")
  func afterStop() async throws {
    let loop = try EventLoop()
    let before = Task(executorPreference: loop) {
      for _ in 0..<20_000 { await Task.yield() }
      return true
    }
    loop.stop()
    #expect(await before.value)
    let after = Task(executorPreference: loop) {
      for _ in 0..<20_000 { await Task.yield() }
      return true
    }
    #expect(await after.value)
  }

  @Test("thousands of jobs from many tasks all run")
  func manyJobs() async throws {
    let loop = try EventLoop()
    let count = Tally()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2000 {
        group.addTask(executorPreference: loop) {
          await Task.yield()
          count.value.withLock { $0 += 1 }
        }
      }
    }
    #expect(count.value.withLock { $0 } == 2000)
    loop.stop()
  }
}
