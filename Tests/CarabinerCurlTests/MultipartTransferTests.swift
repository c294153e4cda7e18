import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("Responses in parts over the network", .overBothEngines)
struct MultipartTransferTests {
  private struct Parser: InterceptorProvider {
    let limits: ResponseLimits

    func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor {
      JSONResponseParsingInterceptor(limits: limits)
    }
  }

  private struct Counting: GraphQLSubscription {
    struct Data: Decodable, Sendable {
      let count: Int
    }

    var operationName: String? { nil }
    var document: String { "subscription { count }" }
  }

  private static let subscription = Counting()
  private static let query = DynamicOperation(document: "{ a ... @defer { b } }", operationName: nil)

  private func client(
    _ server: ScriptedServer, limits: ResponseLimits = ResponseLimits(),
    configure: (inout CurlTransport.Configuration) -> Void = { _ in }
  ) throws -> (client: ApolloClient, transport: CurlTransport) {
    var configuration = CurlTransport.Configuration()
    configure(&configuration)
    let transport = try CurlTransport.tested(configuration)
    let url = try #require(URL(string: "\(server.origin)/graphql"))
    return (
      ApolloClient(
        networkTransport: RequestChainNetworkTransport(
          interceptorProvider: Parser(limits: limits), endpointURL: url, httpTransport: transport)), transport
    )
  }

  @Test("one byte in each chunk gives the same results, and the connection serves the next request", .rule("multipart.6"))
  func singleBytes() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.sendHead(deferred)
        for byte in Array("\(part(#"{"data":{"a":1},"hasNext":true}"#))\(lastPatch)--\r\n".utf8) { try peer.sendChunk([byte]) }
        try peer.sendChunk([])
      })
    let (client, _) = try client(server)
    for _ in 0..<3 {
      var texts: [String] = []
      for try await response in try client.results(of: Self.query, cachePolicy: .networkOnly) {
        texts.append(String(decoding: response.body.bytes, as: UTF8.self))
      }
      #expect(texts == [#"{"data":{"a":1}}"#, #"{"data":{"a":1,"b":2}}"#])
    }
    #expect(server.connections == 1)
  }

  @Test(
    "the first result is there while the transfer goes on; cancelling the reader ends the transfer", .rule("chain.12"),
    .timeLimit(.minutes(2)))
  func cancellation() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.sendHead(subscribed)
        try peer.sendChunk(Array(part(payload(1)).utf8))
        peer.waitForHangUp()
      })
    let (client, transport) = try client(server)
    let (counts, continuation) = AsyncStream.makeStream(of: Int?.self)
    let task = Task {
      for try await response in try client.results(of: Self.subscription) {
        continuation.yield(try response.data?.count)
      }
    }
    #expect(await counts.first { _ in true } == 1)
    #expect(server.hangUps == 0)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await eventually { server.hangUps == 1 })
    #expect(await eventually { try await transport.transferCount == 0 })
  }

  @Test("a reader that takes one result and leaves ends the transfer", .timeLimit(.minutes(2)))
  func leaving() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.sendHead(subscribed)
        try peer.sendChunk(Array(part(payload(1)).utf8))
        peer.waitForHangUp()
      })
    let (client, transport) = try client(server)
    for try await _ in try client.results(of: Self.subscription) { break }
    #expect(await eventually { server.hangUps == 1 })
    #expect(await eventually { try await transport.transferCount == 0 })
  }

  @Test(
    "a body without its close delimiter is truncated, a connection that breaks is the transport's error", .rule("multipart.2"))
  func brokenOff() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        try peer.sendHead(subscribed)
        try peer.sendChunk(Array(part(payload(1)).utf8))
        if request.headers.contains(where: { $0.name == "X-Reset" }) { return peer.close() }
        try peer.sendChunk([])
      })
    let (client, _) = try client(server)
    var count = 0
    let truncated = await #expect(throws: ResponseParsingError.self) {
      for try await _ in try client.results(of: Self.subscription, cachePolicy: .networkOnly) { count += 1 }
    }
    #expect(truncated?.code == .truncated)
    let lost = await #expect(throws: TransportError.self) {
      let configuration = RequestConfiguration(additionalHeaders: ["X-Reset": "yes"])
      for try await _ in try client.results(of: Self.subscription, cachePolicy: .networkOnly, configuration: configuration) {
        count += 1
      }
    }
    #expect(lost?.code == .connectionLost)
    #expect(count == 2)
  }

  @Test("a subscription outlives the transport's total timeout and its limit of a body")
  func longLife() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.sendHead(subscribed)
        for number in 0..<40 {
          try peer.sendChunk(Array(part(payload(number), isFirst: number == 0).utf8))
          peer.pause(milliseconds: 100)
        }
        try peer.sendChunk(Array("--".utf8))
        try peer.sendChunk([])
      })
    let (client, _) = try client(server) {
      // Long enough for the head on a busy machine, and shorter than the whole response.
      $0.totalTimeout = 3
      $0.maximumBodyBytes = 500
    }
    var counts: [Int?] = []
    for try await response in try client.results(of: Self.subscription) { counts.append(try response.data?.count) }
    #expect(counts == Array(0..<40))
  }

  @Test("a body in parts is as long as any other may be, if its reader does not take the parts one by one")
  func wholeBody() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.sendHead(subscribed)
        while true { try peer.sendChunk([UInt8](repeating: 0x78, count: 1000)) }
      })
    var configuration = CurlTransport.Configuration()
    configuration.maximumBodyBytes = 100_000
    let transport = try CurlTransport.tested(configuration)
    let error = await #expect(throws: TransportError.self) { try await transport.fetch("\(server.origin)/fetched") }
    #expect(error?.code == .bodyTooLarge)
  }

  @Test("endless heartbeats end with the idle timeout, and the server sees the connection close", .timeLimit(.minutes(2)))
  func heartbeats() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.sendHead(subscribed)
        try peer.sendChunk(Array("--b".utf8))
        while true {
          try peer.sendChunk(Array("\r\n\r\n{}\r\n--b".utf8))
          peer.pause(milliseconds: 10)
        }
      })
    let (client, transport) = try client(server, limits: ResponseLimits(idleTimeout: .milliseconds(300)))
    let error = await #expect(throws: RequestChainError.self) {
      for try await _ in try client.results(of: Self.subscription) {}
    }
    #expect(error?.code == .idle)
    #expect(await eventually { server.openConnections == 0 })
    #expect(try await transport.transferCount == 0)
  }

  @Test("a slow reader makes the server wait; no result is lost", .timeLimit(.minutes(3)))
  func backPressure() async throws {
    let text = String(repeating: "x", count: 1000)
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        peer.limitSendBuffer(to: 16 << 10)
        try peer.sendHead(subscribed)
        for number in 0..<10_000 {
          try peer.sendChunk(
            Array(part(#"{"payload":{"data":{"count":\#(number),"text":"\#(text)"}}}"#, isFirst: number == 0).utf8))
        }
        try peer.sendChunk(Array("--".utf8))
        try peer.sendChunk([])
      })
    let (client, _) = try client(server) { $0.bufferedBodyBytes = 64 << 10 }
    var next = 0
    for try await response in try client.results(of: Self.subscription, cachePolicy: .networkOnly) {
      try #require(try response.data?.count == next)
      if next == 0 {
        try await Task.sleep(for: .milliseconds(500))
        #expect(server.bytesSent < 8 << 20)
      }
      next += 1
    }
    #expect(next == 10_000)
  }
}

private let deferred = #"multipart/mixed;boundary="b";deferSpec=20220824"#
private let subscribed = "multipart/mixed; boundary=b; subscriptionSpec=1.0"
private let lastPatch = "\r\n\r\n{\"incremental\":[{\"path\":[],\"data\":{\"b\":2}}],\"hasNext\":false}\r\n--b"

private func payload(_ count: Int) -> String { #"{"payload":{"data":{"count":\#(count)}}}"# }

private func part(_ json: String, isFirst: Bool = true) -> String {
  "\(isFirst ? "--b" : "")\r\nContent-Type: application/json\r\n\r\n\(json)\r\n--b"
}

extension Peer {
  fileprivate func sendHead(_ contentType: String) throws {
    try send("HTTP/1.1 200 OK\r\nContent-Type: \(contentType)\r\nTransfer-Encoding: chunked\r\n\r\n")
  }

  /// Sends a chunk; an empty one ends the body.
  fileprivate func sendChunk(_ bytes: [UInt8]) throws {
    try send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))
  }
}
