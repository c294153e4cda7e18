import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("Figures", .overBothEngines)
struct FiguresTests {
  @Test("opened and closed connections are counted, and requests by new or kept connection")
  func counts() async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      try peer.respond(headers: request.target == "/last" ? "Connection: close\r\n" : "", body: "answer")
    })
    let transport = try CurlTransport.tested()
    #expect(transport.figures == TransportFigures())
    for target in ["/one", "/two", "/three"] { _ = try await transport.fetch(server.origin + target) }
    #expect(await eventually { transport.figures.requestsEnded == 3 })
    #expect(transport.figures.connectionsOpened == 1 && transport.figures.requestsOnKeptConnections == 2)
    #expect(transport.figures.openConnections == 1 && transport.figures.idleConnections == 1)
    _ = try await transport.fetch("\(server.origin)/last")
    #expect(await eventually { transport.figures.openConnections == 0 })
    _ = try await transport.fetch("\(server.origin)/again")
    #expect(await eventually { transport.figures.requestsEnded == 5 })
    #expect(transport.figures.connectionsOpened == 2 && transport.figures.requestsOnKeptConnections == 3)
    // A transport that replaces another one continues its counters.
    let next = try CurlTransport.tested(replacing: transport)
    _ = try await next.fetch("\(server.origin)/next")
    #expect(await eventually { next.figures.requestsEnded == 6 })
    #expect(next.figures.connectionsOpened == 3 && next.figures == transport.figures)
  }

  @Test("running requests are counted until they end, however they end")
  func running() async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
    let transport = try CurlTransport.tested()
    let slow = Task { try await transport.fetch(server.origin) }
    #expect(await eventually { server.requests.count == 1 })
    #expect(transport.figures.runningRequests == 1 && transport.figures.idleConnections == 0)
    slow.cancel()
    _ = await slow.result
    #expect(await eventually { transport.figures.runningRequests == 0 && transport.figures.openConnections == 0 })
    _ = try await transport.failure("http://127.0.0.1:9/")
    #expect(await eventually { transport.figures.requestsEnded == 2 && transport.figures.openConnections == 0 })
    #expect(transport.figures.requestsOnKeptConnections == 0)
  }
}
