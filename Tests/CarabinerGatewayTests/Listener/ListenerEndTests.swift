import Dispatch
import NIOCore
import NIOPosix
import ScriptedServer
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("The end of a listener")
struct ListenerEndTests {
  @Test("connections that are accepted and not set up yet on another loop are served when the listener closes")
  func settingUp() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let server = try await GatewayServer(
      .tcp(host: "127.0.0.1", port: 0), group: group, ListenerSettings(handler: RecordingHandler(text: "served")),
      // On a busy machine, the clients send their requests late.
      settings: CurrentSettings(limits: .untimed))
    let port = try #require(server.address?.port)
    let loop = server.channel.eventLoop
    let gate = DispatchSemaphore(value: 0)
    try #require(group.makeIterator().first { $0 !== loop }).execute { gate.wait() }
    // The loops get connections in turn, and the listener is on the first one: it gets the second and the fourth.
    let clients = try (0..<4).map { _ in try ClientSocket(port: port) }
    while server.connectionCount < 2 { try await Task.sleep(for: .milliseconds(5)) }
    let stopping = Task { await server.stopListening() }
    for _ in 0..<20 {
      try await loop.submit {}.get()
      try await Task.sleep(for: .milliseconds(2))
    }
    gate.signal()
    await stopping.value
    #expect(server.connectionCount == clients.count)
    for client in clients {
      client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let answer = try await offThePool { client.read(patience: 60_000) }
      #expect(answer.text.hasSuffix("served"), "\(answer)")
    }
    await server.shutDown(within: .zero)
    try await group.shutdownGracefully()
  }
}
