import CarabinerHost
import CarabinerService
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// A body that no stage reads is passed on while it arrives.
@Suite("Bodies that a gateway passes on")
struct PassedBodyTests {
  /// A response of about a number of bytes, and the last bytes of it apart.
  private static func response(_ bytes: Int) -> (start: String, end: String) {
    (#"{"data":{"text":""# + String(repeating: "0123456789abcdef", count: bytes / 16), #""}}"#)
  }

  /// Reads until the client has the first bytes of a body. An upstream that ends its body only then has not sent it at once.
  private static func readFirst(_ client: ClientSocket) -> String { client.read { $0.utf8.count > 100_000 }.text }

  /// Runs a test with a gateway, and with a connection to it.
  ///
  /// - Parameters:
  ///   - manifest: Lines of the manifest after the endpoint.
  ///   - script: Answers a request, unless its name is `Short`.
  private func withGateway(
    _ manifest: String = "", folder: FixturePlugin.Folder? = nil,
    answering script: @escaping @Sendable (Peer) throws -> Void,
    _ test: @escaping @Sendable (ClientSocket) throws -> Void
  ) async throws {
    let upstream = try ScriptedServer { peer in
      while let request = try peer.request() {
        if String(decoding: request.body, as: UTF8.self).contains("Short") {
          try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{}}"#)
        } else {
          try script(peer)
        }
      }
    }
    let folder = try folder ?? FixturePlugin.Folder()
    let path = folder.file("chain.yaml")
    try Data("carabiner: 1\nendpoint: \(upstream.origin)/graphql\n\(manifest)\n".utf8).write(to: path)
    let host = try await PluginHost(manifest: path.path)
    let (addresses, continuation) = AsyncStream.makeStream(of: [String].self)
    var configuration = Gateway.Configuration(address: "127.0.0.1:0")
    configuration.onListening = { continuation.yield($0) }
    let gateway = Gateway(host: host, configuration: configuration)
    let running = Task { try await gateway.run() }
    let address = try #require(await addresses.first { _ in true }?.first)
    let port = try #require(Int(address.split(separator: ":").last ?? ""))
    let client = try ClientSocket(port: port)
    // Reading blocks its thread.
    try await offThePool { try test(client) }
    client.hangUp()
    running.cancel()
    try? await running.value
  }

  private static func request(_ name: String = "Large", version: String = "1.1", more: String = "") -> String {
    let body = #"{"query":"query \#(name) { text }","operationName":"\#(name)"}"#
    return "POST /graphql HTTP/\(version)\r\nHost: gateway\r\nContent-Type: application/json\r\n\(more)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

  @Test("the client has the first bytes before the upstream has sent the last ones, and the length", .rule("gateway.32"))
  func early() async throws {
    let (start, end) = Self.response(200_000)
    let mayEnd = DispatchSemaphore(value: 0)
    try await withGateway {
      try $0.send("\(Self.head)Content-Length: \(start.utf8.count + end.utf8.count)\r\n\r\n\(start)")
      mayEnd.wait()
      try $0.send(end)
    } _: { client in
      client.send(Self.request())
      let first = Self.readFirst(client)
      #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(first.contains("Content-Length: \(start.utf8.count + end.utf8.count)\r\n"))
      #expect(first.contains("Content-Type: application/json; charset=utf-8\r\n"))
      mayEnd.signal()
      let rest = client.read { $0.hasSuffix(end) }
      #expect((first + rest.text).hasSuffix("\r\n\r\n\(start)\(end)"))
      // The connection serves the next request.
      client.send(Self.request("Short"))
      #expect(client.read { $0.hasSuffix("{}}") }.text.hasPrefix("HTTP/1.1 200 OK"))
    }
  }

  @Test("a body of unknown length comes in chunks", .rule("gateway.32"))
  func chunks() async throws {
    let (start, end) = Self.response(200_000)
    let mayEnd = DispatchSemaphore(value: 0)
    try await withGateway { peer in
      func send(chunk: String) throws { try peer.send("\(String(chunk.utf8.count, radix: 16))\r\n\(chunk)\r\n") }
      try peer.send("\(Self.head)Transfer-Encoding: chunked\r\n\r\n")
      try send(chunk: start)
      mayEnd.wait()
      try send(chunk: end)
      try peer.send("0\r\n\r\n")
    } _: { client in
      client.send(Self.request())
      let first = Self.readFirst(client)
      mayEnd.signal()
      let answer = first + client.read { $0.hasSuffix("0\r\n\r\n") }.text
      #expect(answer.contains("Transfer-Encoding: chunked\r\n"))
      #expect(answer.contains(end))
    }
  }

  @Test(
    "a body that is cut off, or is not a GraphQL response, ends the connection before its end", .rule("gateway.33"),
    arguments: [(#""}}"#, 9), (#"""#, 0), (#""}]"#, 0), (#""}}}"#, 0)])
  func broken(_ end: String, _ missing: Int) async throws {
    let (start, _) = Self.response(200_000)
    let mayEnd = DispatchSemaphore(value: 0)
    try await withGateway {
      try $0.send("\(Self.head)Content-Length: \(start.utf8.count + end.utf8.count + missing)\r\n\r\n\(start)")
      mayEnd.wait()
      try $0.send(end)
      if missing > 0 { $0.close() }
    } _: { client in
      client.send(Self.request())
      let first = Self.readFirst(client)
      mayEnd.signal()
      let (rest, isClosed) = client.read()
      #expect(isClosed)
      #expect(first.hasPrefix("HTTP/1.1 200 OK"))
      #expect(!rest.hasSuffix(end) || missing > 0)
    }
  }

  @Test(
    "a body whose first bytes are not those of a GraphQL response is refused before the client has a byte of it",
    .rule("gateway.33"))
  func foreign() async throws {
    let page = "<html>" + String(repeating: "x", count: 200_000) + "</html>"
    try await withGateway {
      try $0.respond(headers: "Content-Type: text/html\r\n", body: page)
    } _: { client in
      client.send(Self.request())
      #expect(client.read { $0.hasSuffix("}]}") }.text.hasPrefix("HTTP/1.1 502"))
    }
  }

  @Test("a client that stops reading stops the upstream", .rule("gateway.32"), .timeLimit(.minutes(3)))
  func backPressure() async throws {
    let (start, end) = Self.response(40 << 20)
    let sent = Atomic(0)
    try await withGateway { peer in
      try peer.send("\(Self.head)Content-Length: \(start.utf8.count + end.utf8.count)\r\n\r\n")
      let bytes = Array((start + end).utf8)
      for place in stride(from: 0, to: bytes.count, by: 1 << 20) {
        try peer.send(Array(bytes[place..<min(place + 1 << 20, bytes.count)]))
        sent.store(place, ordering: .relaxed)
      }
    } _: { client in
      client.send(Self.request())
      var last = -1
      // The kernel buffers some megabytes on both connections.
      while sent.load(ordering: .relaxed) > last {
        last = sent.load(ordering: .relaxed)
        usleep(300_000)
      }
      #expect(last < 30 << 20)
      var count = 0
      while let piece = client.receive(), !piece.isEmpty, count < start.utf8.count + end.utf8.count { count += piece.count }
      #expect(count > start.utf8.count)
    }
  }

  @Test("a body whose declared length is above the limit is refused before the client has a byte of it", .rule("gateway.33"))
  func tooLarge() async throws {
    let (start, end) = Self.response(200_000)
    try await withGateway("settings: {maximum-body: 150KiB}") {
      try $0.respond(headers: "Content-Type: application/json\r\n", body: start + end)
    } _: { client in
      client.send(Self.request())
      #expect(client.read { $0.hasSuffix("}]}") }.text.hasPrefix("HTTP/1.1 502"))
    }
  }

  @Test("a body that is short is read before the client has a byte of it", .rule("gateway.32"))
  func short() async throws {
    try await withGateway {
      try $0.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{}"#)
    } _: { client in
      client.send(Self.request())
      #expect(client.read { $0.hasSuffix("}]}") }.text.hasPrefix("HTTP/1.1 502"))
    }
  }

  @Test(
    "a client that cannot see that a body is cut, or wants another form of it, gets it once it is whole", .rule("gateway.32"),
    arguments: [
      ("", "1.0", ""), ("", "1.1", "Accept: application/graphql-response+json\r\n"),
      ("serve: {compression: {}}", "1.1", "Accept-Encoding: gzip\r\n"),
    ])
  func whole(_ manifest: String, _ version: String, _ field: String) async throws {
    let (start, _) = Self.response(200_000)
    try await withGateway(manifest) {
      try $0.respond(headers: "Content-Type: application/json\r\n", body: start)
    } _: { client in
      client.send(Self.request(version: version, more: field))
      #expect(client.read { $0.contains("}]}") }.text.hasPrefix("HTTP/\(version == "1.0" ? "1.1" : version) 502"))
    }
  }

  @Test("a stage that reads results gets the whole body", .rule("gateway.32"))
  func reader() async throws {
    let (start, _) = Self.response(200_000)
    let folder = try FixturePlugin.Folder()
    _ = try await FixturePlugin.compile("parts", into: folder, name: "reader.so")
    let manifest = "plugins: [{name: reader, file: reader.so, config: {mode: none}}]\nchain: {graphql: [reader]}"
    try await withGateway(manifest, folder: folder) {
      try $0.respond(headers: "Content-Type: application/json\r\n", body: start)
    } _: { client in
      client.send(Self.request())
      #expect(client.read { $0.hasSuffix("}]}") }.text.hasPrefix("HTTP/1.1 502"))
    }
  }

  // MARK: Subscriptions

  /// Runs a subscription whose upstream sends two events and then `end`, through a stage that writes down its hooks.
  ///
  /// - Returns: What the client gets after the head, and the hooks.
  private func subscribe(
    accept: String, readsResults: Bool, _ type: String, _ events: [String], end: String
  ) async throws -> (text: String, hooks: [String]) {
    let folder = try FixturePlugin.Folder()
    _ = try await FixturePlugin.compile(
      "journal", defining: ["READS_RESULTS=\(readsResults ? 1 : 0)"], into: folder, name: "journal.so")
    let journal = folder.file("journal")
    let manifest =
      "plugins: [{name: j, file: journal.so, config: {file: \(journal.path), suspend: 'no'}}]\nchain: {graphql: [j]}"
    let body = #"{"query":"subscription Ticks { tick }"}"#
    let request =
      "POST /graphql HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nAccept: \(accept)\r\nConnection: close\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    let text = Mutex("")
    try await withGateway(manifest, folder: folder) { peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nConnection: close\r\n\r\n\(events.joined())\(end)")
      peer.close()
    } _: { client in
      client.send(request)
      let answer = client.read().text
      text.withLock { $0 = answer }
    }
    let hooks = try String(contentsOf: journal, encoding: .utf8).split(separator: "\n").map { String($0.dropFirst(2)) }
    return (text.withLock { $0 }, hooks.filter { $0.hasPrefix("graphql.") })
  }

  private static let multipart = "multipart/mixed;subscriptionSpec=1.0"
  private static let parts = [
    "--b\r\nContent-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"tick\":1}}}\r\n--b\r\n",
    "Content-Type: application/json\r\n\r\n{}\r\n--b\r\n",
    "Content-Type: application/json\r\n\r\n{\"payload\":{\"data\":{\"tick\":2}}}\r\n--b",
  ]

  @Test(
    "results of a subscription reach the client in the same form, whether a stage reads them or not, and each stage sees their end",
    .rule("gateway.35"), arguments: ["text/event-stream", multipart])
  func results(_ accept: String) async throws {
    let events = [
      "event: next\ndata: {\"data\":\ndata: {\"tick\":1}}\n\n", ":\n\n", "event: next\ndata: {\"data\":{\"tick\":2}}\n\n",
    ]
    for (type, events, end) in [
      ("text/event-stream", events, "event: complete\n\n"), (Self.multipart + ";boundary=b", Self.parts, "--\r\n"),
    ] {
      let read = try await subscribe(accept: accept, readsResults: true, type, events, end: end)
      let passed = try await subscribe(accept: accept, readsResults: false, type, events, end: end)
      #expect(read.hooks.filter { $0 == "graphql.on_result" }.count == 2)
      #expect(passed.hooks == ["graphql.on_request", "graphql.on_end", "graphql.release"])
      let bodies = [read, passed].map { $0.text.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n") }
      #expect(bodies[0] == bodies[1])
      // Line breaks between the tokens of a result stay in parts.
      let text = bodies[0].replacing("\n", with: "")
      #expect(text.contains("{\"data\":{\"tick\":1}}") && text.contains("{\"data\":{\"tick\":2}}"), "\(text)")
    }
  }

  @Test(
    "a subscription that is cut off, and one with an error of the protocol, end with an error that stages see",
    .rule("gateway.35"),
    arguments: [
      ("text/event-stream", "event: next\ndata: {\"data\":{\"tick\":1}}\n\nevent: next\ndata: {\"data\":{\"tick\":2}}\n\n"),
      (multipart + ";boundary=b", parts.joined()),
      (
        multipart + ";boundary=b",
        parts.joined()
          + "\r\nContent-Type: application/json\r\n\r\n{\"payload\":null,\"errors\":[{\"message\":\"no\"}]}\r\n--b--\r\n"
      ),
    ])
  func failedResults(_ type: String, _ text: String) async throws {
    let (answer, hooks) = try await subscribe(accept: "text/event-stream", readsResults: false, type, [text], end: "")
    let events = answer.components(separatedBy: "event: ").dropFirst()
    #expect(events.count == 4 && events.last?.hasPrefix("complete") == true, "\(answer)")
    #expect(events.dropFirst().first?.contains("{\"data\":{\"tick\":2}}") == true)
    #expect(events.dropFirst(2).first?.hasPrefix("next\ndata: {\"errors\":[{") == true, "\(answer)")
    #expect(hooks == ["graphql.on_request", "graphql.on_error", "graphql.release"])
  }
}
