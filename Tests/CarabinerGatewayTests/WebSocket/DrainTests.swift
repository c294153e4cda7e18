import Carabiner
import CarabinerWire
import Testing

@testable import CarabinerGateway

@Suite("The end of WebSockets when the gateway stops")
struct DrainTests {
  @Test("an operation is refused also on a connection that has not got the event of the shutdown yet")
  func beforeTheEvent() async throws {
    let (mayAnswer, answers) = AsyncStream.makeStream(of: Void.self)
    let response = try GraphQLResponse<DynamicOperation>(json: ["data": ["a": 1]])
    let runner = ScriptedRunner { _ in
      PullStream {
        for await _ in mayAnswer {}
        return .last(response)
      }
    }
    let socket = try await SocketChannel(runner)
    try await socket.send(#"{"type":"connection_init"}"#)
    #expect(try await socket.message()["type"] == "connection_ack")
    try await socket.send(#"{"type":"subscribe","id":"early","payload":{"query":"{ a }"}}"#)
    // The channel is not among the open connections, so no event reaches it.
    socket.connections.drain()
    try await socket.send(#"{"type":"subscribe","id":"late","payload":{"query":"{ a }"}}"#)
    let refusal = try await socket.message()
    #expect(refusal["id"] == "late" && refusal["payload"]?[0]?["extensions"]?["code"] == "SHUTTING_DOWN")
    answers.finish()
    #expect(try await socket.message()["type"] == "next")
    #expect(try await socket.message()["type"] == "complete")
    #expect(try await socket.message() == ["close": 1001])
  }
}
