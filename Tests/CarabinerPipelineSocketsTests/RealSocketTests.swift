import CarabinerPipeline
import CarabinerPipelineSockets
import CarabinerWire
import Foundation
import SocketSamples
import TestTools
import Testing

/// Tests with strawberry on uvicorn.
@Suite("A WebSocketTransport of 0.3x and a real server", .timeLimit(.minutes(3)))
struct RealSocketTests {
  private func transport(
    _ server: StrawberryServer, _ dialect: WebSocketProtocol = .graphQLWS, payload: JSONEncodableDictionary? = [:]
  ) throws -> WebSocketTransport {
    var configuration = WebSocketTransport.Configuration()
    // A server needs seconds to start again on a busy machine.
    configuration.reconnection.maximumAttempts = 1000
    configuration.reconnection.maximumDelay = .milliseconds(100)
    return WebSocketTransport(
      request: URLRequest(url: try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql"))), reconnectionInterval: 0.02,
      connectingPayload: payload, webSocketProtocol: dialect, configuration: configuration)
  }

  @Test("a subscription in both protocols", .rule("legacy.10", "legacy.11"), arguments: WebSocketProtocol.allCases)
  func subscription(dialect: WebSocketProtocol) async throws {
    let server = try await StrawberryServer()
    let transport = try transport(server, dialect)
    let call = transport.start(Countdown(start: 3)).call
    #expect(await call.words(4) == (0...3).reversed().map { #"{"countdown":\#($0)}"# })
  }

  // In the older protocol this server supports only subscriptions.
  @Test("a query and a mutation, with the payload of connection_init", .rule("legacy.10", "legacy.11"))
  func operations() async throws {
    let server = try await StrawberryServer()
    let transport = try transport(server, .graphQLTransportWS, payload: ["token": "from init"])
    let query = transport.start(Document(text: #"{ connectionParam(name: "token") }"#)).call
    #expect(await query.words(1) == [#"{"connectionParam":"from init"}"#])
    let mutation = Document(operationType: .mutation, text: #"mutation { rename(id: "1", title: "X") { title } }"#)
    #expect(await transport.start(mutation).call.words(1) == [#"{"rename":{"title":"X"}}"#])
  }

  @Test("after the server was killed and started again a subscription goes on, and its handler saw no error", .rule("legacy.20"))
  func restart() async throws {
    let server = try await StrawberryServer()
    let transport = try transport(server)
    let journal = Journal()
    let listener = Listener(journal)
    transport.delegate = listener
    let call = transport.start(Document(operationType: .subscription, text: "subscription { forever }")).call
    _ = await call.words(2)
    server.end()
    #expect(await journal.entries(2).last?.hasPrefix("disconnect") == true)
    let before = call.words.count
    let again = try await StrawberryServer(["--port", "\(server.port)"])
    #expect(await call.words(before + 2).count >= before + 2)
    #expect(call.words.allSatisfy { $0.contains("forever") }, "\(call.words.suffix(5))")
    #expect(await journal.entries(3).last == "reconnect")
    withExtendedLifetime(again) {}
  }

  @Test("the client of the samples subscribes over the socket and fetches over HTTP", .rule("legacy.28"))
  func samples() async throws {
    let server = try await StrawberryServer()
    let network = SubscribingNetwork(
      httpURL: try #require(URL(string: server.endpoint)),
      webSocketURL: try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql")))
    let (counts, echo) = (Call(), Call())
    _ = network.apollo.subscribe(subscription: Countdown(start: 1), queue: .global()) { counts.add($0) }
    #expect(await counts.words(2) == [#"{"countdown":1}"#, #"{"countdown":0}"#])
    network.apollo.fetch(query: Echo(), queue: .global()) { echo.add($0) }
    #expect(await echo.words(1) == [#"{"echo":"POST x"}"#])
    network.logIn(token: "other")
    #expect(await eventually { network.webSocketTransport.isConnected() })
    network.webSocketTransport.closeConnection()
  }
}

struct Countdown: GraphQLSubscription {
  typealias Data = JSONValue

  let start: Int
  var operationName: String? { "C" }
  var document: String { "subscription C($start: Int!) { countdown(start: $start, every: 0.01) }" }
  var variables: JSONObject { ["start": .number(JSONNumber(start))] }
}

struct Echo: GraphQLQuery {
  typealias Data = JSONValue

  var operationName: String? { nil }
  var document: String { #"{ echo(text: "x") }"# }
}

/// An operation given as text.
struct Document: GraphQLOperation {
  typealias Data = JSONValue

  var operationType = GraphQLOperationType.query
  let text: String
  var operationName: String? { nil }
  var document: String { text }
}
