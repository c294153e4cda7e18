import Carabiner
import CarabinerWebSocket
import CarabinerWire
import Foundation
import ScriptedServer
import ScriptedSocket
import Testing

@Suite("Connections with the headers of requests", .timeLimit(.minutes(2)))
struct IdentitySocketTests {
  private let journal = Journal()

  /// A server that notes each connection with its X-User, and the end of each. It answers each operation with one result, and
  /// completes queries.
  private func server() throws -> ScriptedServer {
    try ScriptedServer.sockets { [journal] socket in
      let user = socket.request.header("X-User") ?? "none"
      journal.note("open \(user) \(socket.request.header("X-Team") ?? "") \(socket.request.header("X-Request-Id") ?? "")")
      try socket.begin()
      while let message = try socket.message() {
        guard let id = message["id"]?.string, message["type"]?.string == "subscribe" else { continue }
        try socket.next(id, user.utf8.count)
        if message["payload"]?["operationName"]?.string == "Count", user != "endless" { try socket.complete(id) }
      }
      journal.note("closed \(user)")
    }
  }

  private func transport(
    _ server: ScriptedServer, provider: any InterceptorProvider = DefaultInterceptorProvider.shared,
    _ change: (inout WebSocketTransport.IdentityLimits) -> Void = { _ in }
  ) throws -> WebSocketTransport {
    var limits = WebSocketTransport.IdentityLimits()
    limits.idleTimeout = .seconds(600)
    change(&limits)
    var configuration = WebSocketTransport.Configuration()
    configuration.identities = limits
    return try WebSocketTransport(
      url: server.socketURL, interceptorProvider: provider, additionalHeaders: ["X-Team": "red"], configuration: configuration)
  }

  private func results(
    _ transport: WebSocketTransport, _ headers: HTTPHeaders
  ) throws -> PullStream<GraphQLResponse<CountSubscription>> {
    try transport.send(
      CountSubscription(), fetchBehavior: .networkOnly, configuration: RequestConfiguration(additionalHeaders: headers))
  }

  /// The first result of a subscription, which is then released.
  private func first(_ transport: WebSocketTransport, _ headers: HTTPHeaders) async throws -> Int? {
    switch try await results(transport, headers).pull() {
    case .element(let response), .last(let response): try response.data?.count
    case .end: nil
    }
  }

  @Test("each set of headers has one connection, and headers of single requests are left out")
  func separate() async throws {
    let server = try server()
    let transport = try transport(server) { $0.ignoredHeaders = ["x-request-id"] }
    for (user, id) in [("a", "1"), ("bb", "2"), ("a", "3"), ("bb", "4")] {
      #expect(try await first(transport, ["X-User": user, "X-Request-Id": id]) == user.utf8.count)
    }
    #expect(try await first(transport, [:]) == "none".utf8.count)
    #expect(try await first(transport, ["X-User": "a", "X-Team": "blue"]) == 1)
    #expect(journal.entries == ["open a red ", "open bb red ", "open none red ", "open a blue "])
    await transport.shutDown()
    let error = await #expect(throws: WebSocketError.self) { try await first(transport, ["X-User": "a"]) }
    #expect(error?.code == .shutDown)
  }

  /// Changes the headers of each request.
  private struct UserStage: GraphQLInterceptor, InterceptorProvider {
    func graphQLInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any GraphQLInterceptor] { [self] }

    func intercept<Request: GraphQLRequest>(
      request: Request, next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      var request = request
      request.additionalHeaders["X-User"] = "stage"
      request.additionalHeaders["X-Team"] = nil
      return await next(request)
    }
  }

  @Test("the handshake has the headers that stages leave")
  func stages() async throws {
    let server = try server()
    let transport = try transport(server, provider: UserStage())
    #expect(try await first(transport, ["X-User": "a"]) == "stage".utf8.count)
    #expect(journal.entries == ["open stage  "])
  }

  @Test("a connection that is in use counts towards the limit, and an idle one makes room")
  func limit() async throws {
    let server = try server()
    let transport = try transport(server) { $0.connections = 1 }
    var endless: PullStream? = try results(transport, ["X-User": "endless"])
    guard case .element = try await endless?.pull() else { throw CancellationError() }
    let error = await #expect(throws: WebSocketError.self) { try await first(transport, ["X-User": "a"]) }
    #expect(error?.code == .tooManyOperations && error?.mayHaveBeenSent == false)
    #expect(try await first(transport, ["X-User": "endless"]) == "endless".utf8.count)
    endless = nil
    #expect(try await first(transport, ["X-User": "a"]) == 1)
    try await journal.wait(for: 3)
    #expect(journal.entries.sorted() == ["closed endless", "open a red ", "open endless red "])
  }

  @Test("the headers of all connections have a limit of bytes")
  func bytes() async throws {
    let server = try server()
    let transport = try transport(server) { $0.headerBytes = 40 }
    #expect(try await first(transport, ["X-User": "a"]) == 1)
    let error = await #expect(throws: WebSocketError.self) {
      try await first(transport, ["X-User": String(repeating: "a", count: 40)])
    }
    #expect(error?.code == .tooManyOperations)
  }

  @Test("a connection without operations ends")
  func idle() async throws {
    let server = try server()
    let transport = try transport(server) { $0.idleTimeout = .milliseconds(20) }
    for count in 1...2 {
      #expect(try await first(transport, ["X-User": "a"]) == 1)
      try await journal.wait(for: 2 * count)
    }
    #expect(journal.entries == ["open a red ", "closed a", "open a red ", "closed a"])
  }
}
