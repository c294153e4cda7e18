import Carabiner
import CarabinerWire
import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import CarabinerGateway

/// A connection of the gateway without a network: request parts in, response parts out.
struct OperationChannel {
  /// A whole response.
  struct Answer {
    let head: ReplyHead
    var body = ""

    var status: UInt { head.status.code }
    var contentType: String? { head.fields.list["content-type"] }
    var json: JSONValue? { try? JSONValue(parsing: Array(body.utf8)) }
    /// The JSON of each part of a multipart body, or of each event.
    var pieces: [JSONValue] {
      body.split(separator: "\r\n").flatMap { $0.split(separator: "\n") }
        .map { $0.hasPrefix("data: ") ? $0.dropFirst("data: ".count) : $0 }
        .compactMap { try? JSONValue(parsing: Array($0.utf8)) }
    }
  }

  let channel: NIOAsyncTestingChannel
  let connections: OpenConnections

  init(
    _ runner: any OperationRunner, limits: GatewayLimits = GatewayLimits(), policies: CurrentPolicy = CurrentPolicy(),
    metrics: GatewayMetrics = GatewayMetrics()
  ) async throws {
    let service = OperationService(
      settings: CurrentSettings(limits: limits), runner: runner, policies: policies, metrics: metrics,
      logger: Logger(label: "test"))
    channel = NIOAsyncTestingChannel()
    connections = OpenConnections(unsent: UnsentTotal(limits))
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    try await channel.testingEventLoop.executeInContext { [channel, connections] in
      try channel.pipeline.syncOperations.addHandler(
        ConnectionHandler(
          service, CurrentSettings(limits: limits), clock: ConnectionClock(channel.eventLoop, limits, connections.timers),
          connections: connections))
    }
  }

  /// Sends an operation by POST.
  func send(_ query: String, accept: String? = nil, fields: [String: String] = [:]) async throws {
    try await send(body: JSONValue.object(["query": .string(query)]).serialized(), accept: accept, fields: fields)
  }

  private func send(body: [UInt8], accept: String?, fields: [String: String] = [:]) async throws {
    var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/graphql")
    head.headers = ["Host": "localhost", "Content-Type": "application/json"]
    if let accept { head.headers.add(name: "Accept", value: accept) }
    for (name, value) in fields { head.headers.add(name: name, value: value) }
    try await channel.writeInbound(RequestPart.whole(RequestHead(head), ByteBuffer(bytes: body)))
  }

  /// Waits for the next part of a response.
  private func part() async throws -> ReplyPart { try await channel.waitForOutboundWrite(as: ReplyPart.self) }

  /// The head of a response in pieces.
  func head() async throws -> ReplyHead {
    guard case .head(let head) = try await part() else { throw CancellationError() }
    return head
  }

  /// The next piece of a response's body; nil at its end.
  func piece() async throws -> String? {
    guard case .body(let bytes) = try await part() else { return nil }
    return String(buffer: bytes)
  }

  /// The head of the response to an operation, and the bytes of its body.
  func bytes(_ query: String, fields: [String: String]) async throws -> (head: ReplyHead, body: [UInt8]) {
    try await send(query, fields: fields)
    switch try await part() {
    case .whole(let head, let body): return (head, Array(body.readableBytesView))
    case .head(let head):
      var body: [UInt8] = []
      while case .body(let piece) = try await part() { body += Array(piece.readableBytesView) }
      return (head, body)
    default: throw CancellationError()
    }
  }

  /// The whole response to an operation.
  func answer(_ query: String, accept: String?) async throws -> Answer {
    try await send(query, accept: accept)
    return try await whole()
  }

  /// The whole response to a body.
  func answer(body: String, accept: String? = nil) async throws -> Answer {
    try await send(body: Array(body.utf8), accept: accept)
    return try await whole()
  }

  /// The whole response to an operation that was sent.
  func whole() async throws -> Answer {
    let first = try await part()
    if case .whole(let head, let body) = first { return Answer(head: head, body: String(buffer: body)) }
    guard case .head(let head) = first else { throw CancellationError() }
    var answer = Answer(head: head)
    while let piece = try await piece() { answer.body += piece }
    return answer
  }
}

extension GraphQLResponse<DynamicOperation> {
  /// An upstream's response with this body and status.
  init(_ text: String, status: Int) throws {
    try self.init(json: JSONValue(parsing: Array(text.utf8)), source: .server)
    httpResponse = HTTPURLResponse(url: URL(filePath: "/graphql"), statusCode: status)
  }
}
