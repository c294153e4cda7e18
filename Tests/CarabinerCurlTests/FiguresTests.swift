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
    #expect(transport.metrics == TransportMetrics())
    for target in ["/one", "/two", "/three"] { _ = try await transport.fetch(server.origin + target) }
    #expect(await eventually { transport.metrics.requestsEnded == 3 })
    #expect(transport.metrics.connectionsOpened == 1 && transport.metrics.requestsOnKeptConnections == 2)
    #expect(transport.metrics.openConnections == 1 && transport.metrics.idleConnections == 1)
    _ = try await transport.fetch("\(server.origin)/last")
    #expect(await eventually { transport.metrics.openConnections == 0 })
    _ = try await transport.fetch("\(server.origin)/again")
    #expect(await eventually { transport.metrics.requestsEnded == 5 })
    #expect(transport.metrics.connectionsOpened == 2 && transport.metrics.requestsOnKeptConnections == 3)
    // A transport that replaces another one continues its counters.
    let next = try CurlTransport.tested(replacing: transport)
    _ = try await next.fetch("\(server.origin)/next")
    #expect(await eventually { next.metrics.requestsEnded == 6 })
    #expect(next.metrics.connectionsOpened == 3 && next.metrics == transport.metrics)
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
    #expect(transport.metrics.runningRequests == 1 && transport.metrics.idleConnections == 0)
    slow.cancel()
    _ = await slow.result
    #expect(await eventually { transport.metrics.runningRequests == 0 && transport.metrics.openConnections == 0 })
    _ = try await transport.failure("http://127.0.0.1:9/")
    #expect(await eventually { transport.metrics.requestsEnded == 2 && transport.metrics.openConnections == 0 })
    #expect(transport.metrics.requestsOnKeptConnections == 0)
  }
}
