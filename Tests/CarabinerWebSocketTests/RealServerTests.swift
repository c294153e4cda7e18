import Carabiner
import CarabinerManifest
import CarabinerProvider
import CarabinerWebSocket
import CarabinerWire
import Foundation
import TestTools
import Testing

/// Tests with strawberry on uvicorn, in both protocols.
@Suite("Subscriptions over WebSocket from a real server", .timeLimit(.minutes(3)))
struct RealServerTests {
  private func countdown(from start: Int, failingAt: Int? = nil) -> DynamicOperation {
    DynamicOperation(
      document: "subscription C($start: Int!, $failAt: Int) { countdown(start: $start, every: 0.01, failAt: $failAt) }",
      operationName: "C", operationType: .subscription,
      variables: ["start": .number(JSONNumber(start)), "failAt": failingAt.map { .number(JSONNumber($0)) } ?? .null])
  }

  private func numbers(_ results: PullStream<GraphQLResponse<DynamicOperation>>) async throws -> [Int?] {
    var numbers: [Int?] = []
    for try await response in results { numbers.append(try response.data?["countdown"]?.int) }
    return numbers
  }

  @Test("a subscription returns its results and ends", .rule("websocket.1", "websocket.3"), arguments: WebSocketProtocol.allCases)
  func countdown(dialect: WebSocketProtocol) async throws {
    let server = try await StrawberryServer()
    let client = try ApolloClient.socket(server.url()) { $0.webSocketProtocol = dialect }
    #expect(try await numbers(client.results(of: countdown(from: 5))) == [5, 4, 3, 2, 1, 0])
    // The same over the same connection, several at once.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for start in 1...5 {
        group.addTask {
          let counted = try await numbers(client.results(of: countdown(from: start), cachePolicy: .networkOnly))
          #expect(counted == (0...start).reversed().map(Optional.init))
        }
      }
      try await group.waitForAll()
    }
  }

  // In the older protocol this server supports only subscriptions.
  @Test("queries and mutations over the socket, with what connection_init said")
  func otherOperations() async throws {
    let server = try await StrawberryServer()
    let client = try ApolloClient.socket(server.url()) { $0.connectionPayload = { ["token": "from init"] } }
    let results = try client.results(
      of: DynamicOperation(document: #"{ connectionParam(name: "token") books { title } }"#), cachePolicy: .networkOnly)
    for try await response in results {
      #expect(try response.data?["connectionParam"]?.string == "from init")
      #expect(try response.data?["books"]?.array?.count == 3)
    }
    let renamed = try client.results(
      of: DynamicOperation(document: #"mutation { rename(id: "1", title: "X") { title } }"#, operationType: .mutation))
    for try await response in renamed { #expect(try response.data?["rename"]?["title"]?.string == "X") }
  }

  @Test(
    "errors of a result are in it, and a refused subscription throws them", .rule("websocket.1"),
    arguments: WebSocketProtocol.allCases)
  func errors(dialect: WebSocketProtocol) async throws {
    let server = try await StrawberryServer()
    let client = try ApolloClient.socket(server.url()) { $0.webSocketProtocol = dialect }
    var messages: [[String]] = []
    for try await response in try client.results(of: countdown(from: 3, failingAt: 2)) {
      messages.append(response.errors?.compactMap(\.message) ?? [])
    }
    #expect(messages == [[], ["the countdown broke off"]])
    let unknown = DynamicOperation(document: "subscription { nothing }", operationType: .subscription)
    let error = try await #require(throws: SubscriptionError.self) {
      for try await response in try client.results(of: unknown) { Issue.record("a result: \(response)") }
    }
    #expect(error.errors.first?.message?.contains("nothing") == true, "\(error)")
  }

  @Test("a refused connection_init is reported with its code, and another payload is accepted", .rule("websocket.1"))
  func guarded() async throws {
    let server = try await StrawberryServer()
    let refused = try ApolloClient.socket(server.url("/guarded")) { $0.connectionPayload = { ["token": "wrong"] } }
    let error = await #expect(throws: WebSocketError.self) { try await numbers(refused.results(of: countdown(from: 1))) }
    #expect(error?.code == .forbidden)
    let old = try ApolloClient.socket(server.url("/guarded")) { $0.webSocketProtocol = .graphQLWS }
    let oldError = await #expect(throws: WebSocketError.self) { try await numbers(old.results(of: countdown(from: 1))) }
    #expect(oldError?.code == .initialisationRefused)
    #expect(oldError?.message.contains("token is required") == true, "\(oldError as Any)")
    let accepted = try ApolloClient.socket(server.url("/guarded")) { $0.connectionPayload = { ["token": "open sesame"] } }
    #expect(try await numbers(accepted.results(of: countdown(from: 1))) == [1, 0])
  }

  @Test("leaving a subscription ends it at the server", .rule("websocket.1"), arguments: WebSocketProtocol.allCases)
  func leaving(dialect: WebSocketProtocol) async throws {
    let server = try await StrawberryServer()
    let client = try ApolloClient.socket(server.url()) { $0.webSocketProtocol = dialect }
    let forever = DynamicOperation(document: "subscription { forever }", operationType: .subscription)
    for try await response in try client.results(of: forever) where try response.data?["forever"]?.int == 3 { break }
    #expect(await eventually { try await server.subscriptions() == (running: 0, ended: 1) })
  }

  @Test("a plugin sees results that come over the socket", .rule("websocket.2"))
  func plugin() async throws {
    let server = try await StrawberryServer()
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile("journal", into: folder)
    let journal = folder.file("journal.txt")
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
          - {name: a, file: \(path), config: {file: \(journal.path), suspend: "no"}}
        chain: {graphql: [a, max-retry]}
        """)
    let client = try ApolloClient.socket(server.url(), provider: HostedChain(manifest))
    #expect(try await numbers(client.results(of: countdown(from: 2))) == [2, 1, 0])
    let lines = try String(contentsOf: journal, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(lines.filter { $0 == "a graphql.on_request" }.count == 1, "\(lines)")
    #expect(lines.filter { $0 == "a graphql.on_result" }.count == 3, "\(lines)")
    #expect(lines.filter { $0 == "a graphql.on_end" }.count == 1, "\(lines)")
  }

  @Test("results are in the store, and a watcher of a query gets them", .rule("websocket.2"))
  func store() async throws {
    let server = try await StrawberryServer()
    let store = ApolloStore()
    let client = try ApolloClient.socket(server.url(), store: store)
    let query = DynamicOperation(document: #"query Q { book(id: "1") { __typename id title } }"#, operationName: "Q")
    var titles: [String?] = []
    for try await response in client.watch(query) {
      titles.append(try response.data?["book"]?["title"]?.string)
      if titles.count == 1 {
        let favourites = DynamicOperation(
          document: #"subscription F { favourites(titles: ["A"]) { __typename id title } }"#, operationName: "F",
          operationType: .subscription)
        for try await _ in try client.results(of: favourites) {}
      } else {
        break
      }
    }
    #expect(titles == ["The Left Hand of Darkness", "A"])
  }

  @Test("wss: an unknown authority is refused with a hint, and accepted once it is configured")
  func tls() async throws {
    let folder = try FixturePlugin.Folder()
    let certificate = folder.file("certificate.pem").path
    let key = folder.file("key.pem").path
    let made = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
        "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", certificate,
      ])
    try #require(made.status == 0, "\(made.errors)")
    let server = try await StrawberryServer(["--tls-certificate", certificate, "--tls-key", key])
    for host in ["127.0.0.1", "localhost"] {
      let url = try server.url(scheme: "wss", host: host)
      let refused = try ApolloClient.socket(url)
      let error = await #expect(throws: WebSocketError.self) { try await numbers(refused.results(of: countdown(from: 1))) }
      #expect(error?.code == .tls, "\(error as Any)")
      #expect(error?.message.contains("set ca-file to its certificate authority") == true, "\(error as Any)")
      let accepted = try ApolloClient.socket(url) { $0.certificateAuthorityFile = certificate }
      #expect(try await numbers(accepted.results(of: countdown(from: 1))) == [1, 0])
    }
    let missing = try ApolloClient.socket(server.url(scheme: "wss")) { $0.certificateAuthorityFile = "/no/such/file.pem" }
    let error = await #expect(throws: WebSocketError.self) { try await numbers(missing.results(of: countdown(from: 1))) }
    #expect(error?.message.contains("check that ca-file") == true, "\(error as Any)")
    let plain = try await StrawberryServer()
    let noTLS = try ApolloClient.socket(plain.url(scheme: "wss"))
    let tlsError = await #expect(throws: WebSocketError.self) { try await numbers(noTLS.results(of: countdown(from: 1))) }
    #expect(tlsError?.code == .tls, "\(tlsError as Any)")
  }
}
