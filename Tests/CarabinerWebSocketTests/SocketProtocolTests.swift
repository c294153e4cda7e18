import Carabiner
import CarabinerWebSocket
import CarabinerWire
import Foundation
import ScriptedServer
import ScriptedSocket
import TestTools
import Testing

@Suite("Subscriptions over WebSocket", .timeLimit(.minutes(2)))
struct SocketProtocolTests {
  @Test("handshake, init with payload and headers, acknowledgement, results and completion", .rule("websocket.1"))
  func whole() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      journal.note(socket.request.target)
      journal.note(socket.request.header("X-Team") ?? "")
      journal.note(socket.request.header("Sec-WebSocket-Protocol") ?? "")
      journal.note(try socket.begin()?.description ?? "")
      let message = try socket.message()
      journal.note(message?["payload"]?["query"]?.string ?? "")
      journal.note(message?["payload"]?["operationName"]?.string ?? "")
      let id = message?["id"]?.string ?? ""
      for count in 1...3 { try socket.next(id, count) }
      try socket.complete(id)
      journal.note("closed with \(socket.closeCode() ?? 0)")
    }
    let url = try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql?x=1"))
    let client = try ApolloClient.socket(url, headers: ["X-Team": "red"]) { configuration in
      configuration.connectionPayload = { ["token": "t"] }
      configuration.idleTimeout = .milliseconds(50)
    }
    let outcome = await client.counts()
    #expect(outcome.error == nil)
    #expect(outcome.counts == [1, 2, 3])
    try await journal.wait(for: 7)
    #expect(
      journal.entries == [
        "/graphql?x=1", "red", "graphql-transport-ws", #"{"token":"t"}"#, "subscription Count { count }", "Count",
        "closed with 1000",
      ])
  }

  @Test("a handshake has the client's name and version, and the caller's headers replace them", .rule("detail.9"))
  func clientAwareness() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      journal.note(socket.request.header("apollographql-client-name") ?? "")
      journal.note(socket.request.header("apollographql-client-version") ?? "")
      try socket.begin()
      let id = try socket.message()?["id"]?.string ?? ""
      try socket.next(id, 1)
      try socket.complete(id)
    }
    let transport = try WebSocketTransport(
      url: server.socketURL, additionalHeaders: ["Apollographql-Client-Version": "9"],
      wireOptions: WireOptions(clientAwareness: ClientAwareness(applicationName: "shop", applicationVersion: "1")))
    let client = ApolloClient(networkTransport: transport, store: transport.store)
    for try await _ in try client.subscribe(subscription: CountSubscription()) {}
    #expect(journal.entries == ["shop", "9"])
  }

  private final class Listener: WebSocketTransportDelegate {
    let journal: Journal

    init(_ journal: Journal) { self.journal = journal }

    func webSocketTransportDidConnect(_ webSocketTransport: WebSocketTransport) {
      journal.note("connected \(webSocketTransport.delegate === self)")
    }

    func webSocketTransportDidReconnect(_ webSocketTransport: WebSocketTransport) { journal.note("reconnected") }

    func webSocketTransport(_ webSocketTransport: WebSocketTransport, didDisconnectWithError error: (any Error)?) {
      journal.note("disconnected \(error == nil)")
    }
  }

  @Test("the delegate gets connect, disconnect and reconnect in order, and the transport does not keep it")
  func delegate() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.message()?["id"]?.string else { return }
      try socket.next(id, 1)
      while try socket.message() != nil {}
    }
    var configuration = WebSocketTransport.Configuration()
    configuration.operationMessageIdCreator = ApolloSequencedOperationMessageIdCreator(startAt: 100)
    let transport = try WebSocketTransport(url: server.socketURL, configuration: configuration)
    var listener: Listener? = Listener(journal)
    transport.delegate = listener
    let client = ApolloClient(networkTransport: transport, store: transport.store)
    var results = try client.subscribe(subscription: CountSubscription(), cachePolicy: .networkOnly).makeAsyncIterator()
    #expect(try await results.next()?.data?.count == 1)
    try transport.setAdditionalHeaders(["X-Token": "2"])
    #expect(try await results.next()?.data?.count == 1)
    try await journal.wait(for: 3)
    #expect(journal.entries == ["connected true", "disconnected true", "reconnected"])
    listener = nil
    #expect(transport.delegate == nil)
  }

  @Test("other headers and another payload open the connection again, and a pause waits", .rule("detail.18"))
  func changedCredentials() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      let headers = "\(socket.request.header("X-Token") ?? "") \(socket.request.header("apollographql-client-name") ?? "")"
      let payload = try socket.begin()
      journal.note("\(headers) \(payload?.description ?? "nothing")")
      guard let id = try socket.message()?["id"]?.string else { return }
      try socket.next(id, journal.entries.count)
      while try socket.message() != nil {}
    }
    let transport = try WebSocketTransport(
      url: server.socketURL, additionalHeaders: ["X-Token": "1"],
      wireOptions: WireOptions(clientAwareness: ClientAwareness(applicationName: "shop")))
    let client = ApolloClient(networkTransport: transport, store: transport.store)
    var results = try client.subscribe(subscription: CountSubscription(), cachePolicy: .networkOnly).makeAsyncIterator()
    #expect(try await results.next()?.data?.count == 1)
    try transport.setAdditionalHeaders(["X-Token": "2"])
    #expect(try await results.next()?.data?.count == 2)
    transport.setConnectionPayload { ["token": "3"] }
    #expect(try await results.next()?.data?.count == 3)
    transport.pause()
    transport.resume()
    #expect(try await results.next()?.data?.count == 4)
    #expect(journal.entries == ["1 shop nothing", "2 shop nothing", #"2 shop {"token":"3"}"#, #"2 shop {"token":"3"}"#])
    #expect(throws: WebSocketError.self) { try transport.setAdditionalHeaders(["X-Token": "a\r\nb: c"]) }
  }

  @Test("the older protocol, with keep-alives, by option", .rule("websocket.3"))
  func legacy() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.send(#"{"type":"ka"}"#)
      guard let id = try socket.id(of: "start") else { return }
      try socket.send(#"{"id":"\#(id)","type":"data","payload":{"data":{"count":1}}}"#)
      try socket.send(#"{"type":"ka"}"#)
      try socket.send(#"{"id":"\#(id)","type":"data","payload":{"data":{"count":2}}}"#)
      journal.note(try socket.message()?["type"]?.string ?? "gone")
      journal.note(try socket.message()?["type"]?.string ?? "gone")
    }
    let client = try ApolloClient.socket(server.socketURL) { $0.webSocketProtocol = .graphQLWS }
    var counts: [Int?] = []
    for try await response in try client.subscribe(subscription: CountSubscription()) {
      counts.append(try response.data?.count)
      if counts.count == 2 { break }
    }
    #expect(counts == [1, 2])
    await (client.networkTransport as? WebSocketTransport)?.shutDown()
    try await journal.wait(for: 2)
    #expect(journal.entries == ["stop", "connection_terminate"])
  }

  @Test("queries and mutations go over the socket too, and one connection serves many at once")
  func everything() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      while let message = try socket.message() {
        guard message["type"]?.string == "subscribe", let id = message["id"]?.string else { continue }
        let isMutation = message["payload"]?["query"]?.string?.hasPrefix("mutation") == true
        try socket.next(id, isMutation ? 1000 : Int(id) ?? 0)
        try socket.complete(id)
      }
    }
    let client = try ApolloClient.socket(server.socketURL)
    let counts = try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<50 {
        group.addTask { try await client.fetch(query: CountQuery(), cachePolicy: .networkOnly).data?.count }
      }
      return try await group.reduce(into: Set<Int?>()) { $0.insert($1) }
    }
    #expect(counts == Set((1...50).map { Int?($0) }))
    #expect(try await client.perform(mutation: CountMutation()).data?.count == 1000)
    #expect(server.connections == 1)
  }

  @Test(
    "an error message ends a subscription with SubscriptionError, and is the last result of a query", .rule("websocket.1"),
    arguments: WebSocketProtocol.allCases)
  func errorMessage(dialect: WebSocketProtocol) async throws {
    let isOld = dialect == .graphQLWS
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      for _ in 0..<2 {
        guard let id = try socket.id(of: isOld ? "start" : "subscribe") else { return }
        let error = #"{"message":"no such field","extensions":{"code":"BAD"}}"#
        try socket.send(#"{"id":"\#(id)","type":"error","payload":\#(isOld ? error : "[\(error)]")}"#)
      }
      _ = socket.closeCode()
    }
    let client = try ApolloClient.socket(server.socketURL) { $0.webSocketProtocol = dialect }
    let outcome = await client.counts()
    #expect((outcome.error as? SubscriptionError)?.errors.map(\.code) == ["BAD"])
    #expect(outcome.counts.isEmpty)
    let response = try await client.fetch(query: CountQuery(), cachePolicy: .networkOnly)
    #expect(response.errors?.map(\.message) == ["no such field"])
  }

  @Test("leaving the loop notifies the server, and so does cancelling the task", .rule("websocket.1"))
  func leaving() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      while let message = try socket.message() {
        let id = message["id"]?.string ?? ""
        journal.note("\(message["type"]?.string ?? "") \(id)")
        if message["type"]?.string == "subscribe" { try socket.next(id, 1) }
      }
    }
    let client = try ApolloClient.socket(server.socketURL)
    for try await _ in try client.subscribe(subscription: CountSubscription()) { break }
    try await journal.wait(for: 2)
    let task = Task { await client.counts() }
    try await journal.wait(for: 3)
    task.cancel()
    let outcome = await task.value
    #expect(outcome.error is CancellationError)
    try await journal.wait(for: 4)
    #expect(journal.entries == ["subscribe 1", "complete 1", "subscribe 2", "complete 2"])
  }

  @Test("after a lost connection the client subscribes again, with a new id", .rule("websocket.2"))
  func reconnecting() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.id(of: "subscribe") else { return }
      journal.note(id)
      try socket.next(id, socket.peer.number)
      if socket.peer.number == 1 { return }
      if socket.peer.number == 2 { return socket.peer.reset() }
      if socket.peer.number == 3 { return try socket.close(1011, "sorry") }
      try socket.complete(id)
      _ = socket.closeCode()
    }
    let client = try ApolloClient.socket(server.socketURL)
    let stream = try client.subscribe(subscription: CountSubscription())
    #expect(stream.state == .pending)
    let states = stream.states
    var counts: [Int?] = []
    for try await response in stream { counts.append(try response.data?.count) }
    #expect(counts == [1, 2, 3, 4])
    #expect(Set(journal.entries).count == 4)
    #expect(stream.state == .finished)
    #expect(
      await states.reduce(into: []) { $0.append($1) }.drop { $0 == .pending } == [
        .active, .reconnecting, .active, .reconnecting, .active, .reconnecting, .active, .finished,
      ])
  }

  @Test("reconnection attempts are limited, and the error has their number", .rule("websocket.2"))
  func givingUp() async throws {
    let server = try ScriptedServer.sockets { socket in
      guard socket.peer.number == 1 else { return }
      try socket.begin()
      guard let id = try socket.id(of: "subscribe") else { return }
      try socket.next(id, 1)
    }
    let outcome = try await ApolloClient.socket(server.socketURL) { $0.reconnection.maximumAttempts = 3 }.counts()
    #expect(outcome.counts == [1])
    #expect(outcome.code == .cannotConnect)
    #expect("\(outcome.error as Any)".contains("tried 3 times"))
    #expect(server.connections == 4)
  }

  @Test("a mutation in flight is not sent again when the connection is lost", .rule("websocket.2"))
  func mutation() async throws {
    let journal = Journal()
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      journal.note(try socket.id(of: "subscribe") ?? "gone")
    }
    let client = try ApolloClient.socket(server.socketURL)
    let error = await #expect(throws: WebSocketError.self) { try await client.perform(mutation: CountMutation()) }
    #expect(error?.code == .connectionLost)
    #expect(error?.mayHaveBeenSent == true)
    #expect(journal.entries == ["1"])
    #expect(server.connections == 1)
  }

  @Test("results and watchers: what comes over the socket is in the store")
  func store() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.id(of: "subscribe") else { return }
      try socket.send(
        #"{"id":"\#(id)","type":"next","payload":{"data":{"book":{"__typename":"Book","id":"1","title":"Kindred"}}}}"#)
      try socket.complete(id)
      _ = socket.closeCode()
    }
    let store = ApolloStore()
    let client = try ApolloClient.socket(server.socketURL, store: store)
    try await store.write(["book": ["__typename": "Book", "id": "1", "title": "Solaris"]], for: BookQuery())
    var titles: [String?] = []
    for try await response in client.watch(BookQuery(), cachePolicy: .cacheOnly) {
      titles.append(try response.data?.book.title)
      if titles.count == 2 { break }
      for try await _ in try client.subscribe(subscription: BookSubscription()) {}
    }
    #expect(titles == ["Solaris", "Kindred"])
    for try await response in try client.subscribe(subscription: BookSubscription()) {
      #expect(response.source == .cache)
      break
    }
  }
}

struct Book: Decodable, Sendable {
  let title: String
}

struct BookQuery: GraphQLQuery {
  struct Data: Decodable, Sendable {
    let book: Book
  }

  var operationName: String? { "B" }
  var document: String { "query B { book { __typename id title } }" }
}

struct BookSubscription: GraphQLSubscription {
  typealias Data = BookQuery.Data

  var operationName: String? { "S" }
  var document: String { "subscription S { book { __typename id title } }" }
}
