import Carabiner
import CarabinerWire
import Logging
import NIOCore
import NIOHTTP1
import Testing

@testable import CarabinerGateway

@Suite("The older protocol of WebSockets")
struct LegacySocketTests {
  private func socket(_ runner: ScriptedRunner) async throws -> SocketChannel {
    let socket = try await SocketChannel(runner, dialect: .graphQLWS)
    try await socket.send(#"{"type":"connection_init","payload":{}}"#)
    #expect(try await socket.message() == ["type": "connection_ack"])
    #expect(try await socket.message() == ["type": "ka"])
    return socket
  }

  @Test("start returns data and complete, and connection_terminate ends the connection")
  func operation() async throws {
    let socket = try await socket(ScriptedRunner(#"{"data":{"a":1}}"#, #"{"data":{"a":2}}"#))
    try await socket.send(#"{"type":"start","id":"1","payload":{"query":"subscription { a }"}}"#)
    #expect(try await socket.message() == ["type": "data", "id": "1", "payload": ["data": ["a": 1]]])
    #expect(try await socket.message() == ["type": "data", "id": "1", "payload": ["data": ["a": 2]]])
    #expect(try await socket.message() == ["type": "complete", "id": "1"])
    try await socket.send(#"{"type":"connection_terminate"}"#)
    #expect(try await socket.message() == ["close": 1000])
  }

  @Test("an operation that fails ends with an error message that has one error")
  func failure() async throws {
    let socket = try await socket(ScriptedRunner(#"{"data":{"a":1}}"#))
    try await socket.send(#"{"type":"start","id":"1","payload":{"query":"{ a"}}"#)
    let message = try await socket.message()
    #expect(message["type"] == "error" && message["payload"]?["extensions"]?["code"] == "GRAPHQL_PARSE_FAILED", "\(message)")
  }

  @Test("stop ends an operation, and a second start of an id replaces the first")
  func replacement() async throws {
    let (results, _) = AsyncStream.makeStream(of: Void.self)
    let first = ScriptedRunner { operation in
      if operation.document.contains("held") {
        return PullStream {
          for await _ in results {}
          throw CancellationError()
        }
      }
      return PullStream(elements: [try GraphQLResponse(json: ["data": ["b": 1]])])
    }
    let socket = try await socket(first)
    try await socket.send(#"{"type":"start","id":"1","payload":{"query":"subscription { held }"}}"#)
    try await socket.send(#"{"type":"start","id":"1","payload":{"query":"{ b }"}}"#)
    #expect(try await socket.message() == ["type": "data", "id": "1", "payload": ["data": ["b": 1]]])
    #expect(try await socket.message() == ["type": "complete", "id": "1"])
    try await socket.send(#"{"type":"start","id":"2","payload":{"query":"subscription { held }"}}"#)
    try await socket.send(#"{"type":"stop","id":"2"}"#)
    try await socket.send(#"{"type":"start","id":"3","payload":{"query":"{ b }"}}"#)
    #expect(try await socket.message()["id"] == "3")
  }

  @Test("messages of the newer protocol are not messages of the older one")
  func mixed() async throws {
    let socket = try await socket(ScriptedRunner())
    try await socket.send(#"{"type":"subscribe","id":"1","payload":{"query":"{ a }"}}"#)
    #expect(try await socket.message() == ["close": 4400])
  }

  @Test("the handshake takes graphql-ws only with the option, and prefers the newer protocol")
  func handshake() throws {
    func chosen(_ offered: String, _ dialects: [WebSocketProtocol]) throws -> WebSocketProtocol {
      let fields: NIOHTTP1.HTTPHeaders = [
        "Host": "a", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": offered,
      ]
      let head = try RequestHead(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/graphql", headers: fields))
      let handshake = try SocketHandshake(head, origins: OriginRule([]), crossOrigin: nil, dialects: dialects)
      #expect(handshake.answer.first(name: "sec-websocket-protocol") == handshake.dialect.rawValue)
      return handshake.dialect
    }
    let both: [WebSocketProtocol] = [.graphQLTransportWS, .graphQLWS]
    #expect(try chosen("graphql-ws", both) == .graphQLWS)
    #expect(try chosen("graphql-ws, graphql-transport-ws", both) == .graphQLTransportWS)
    #expect(throws: RequestRefusal.self) { try chosen("graphql-ws", [.graphQLTransportWS]) }
    #expect(throws: RequestRefusal.self) { try chosen("mqtt", both) }
  }
}
