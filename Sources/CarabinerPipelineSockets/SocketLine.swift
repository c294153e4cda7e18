internal import Carabiner
internal import CarabinerPipeline
internal import CarabinerWebSocket
internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// The socket of a transport, and how its operations end. Releasing it closes the connection.
final class SocketLine: OperationRunner {
  private static let logger = Logger(label: "carabiner.pipeline.socket")

  let connection: ObservedConnection
  let url: URL
  private let made: Result<OperationSocket, any Error>
  private let skippedNames = Mutex<[String]>([])

  init(
    _ request: Carabiner.URLRequest, clientName: String, clientVersion: String,
    configuration: CarabinerWebSocket.WebSocketTransport.Configuration, keepsConnection: Bool
  ) {
    var headers = request.headers
    headers[RequestChainNetworkTransport.headerFieldNameApolloClientName] = clientName
    headers[RequestChainNetworkTransport.headerFieldNameApolloClientVersion] = clientVersion
    let connection = ObservedConnection()
    self.connection = connection
    url = request.url
    made = Result {
      try OperationSocket(
        url: request.url, headers: headers, configuration: configuration, keepsConnection: keepsConnection
      ) { connection.take($0) }
    }
  }

  /// The socket; nil if its settings are wrong.
  var socket: OperationSocket? { try? made.get() }

  /// The names of interceptors that were skipped, each once.
  var skippedStages: [String] { skippedNames.withLock { $0 } }

  func results<Operation: GraphQLOperation>(
    of operation: Operation, payload: [UInt8]
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    let results = try made.get().results(of: operation, payload: payload)
    let connection = connection
    return PullStream {
      do {
        return try await results.pull()
      } catch let error as WebSocketError where error.code == .shutDown && !connection.isShutDown {
        // The transport was released.
        throw CancellationError()
      }
    }
  }

  func skipped(_ stages: [String]) {
    let new = skippedNames.withLock { names in
      let new = stages.filter { !names.contains($0) }
      names += new
      return new
    }
    for stage in new {
      Self.logger.warning("the HTTP stage \(stage) does not run over a WebSocket; remove it from the manifest of this transport")
    }
  }

  /// Ends all operations with an error, and closes the connection permanently.
  func close() {
    connection.isShutDown = true
    socket?.shutDown()
  }

  /// Changes header fields of the handshake.
  func change(_ values: [String: String?]) {
    do {
      try socket?.changeHeaders { headers in
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { headers[name] = value }
      }
    } catch {
      Self.logger.warning("the header fields of the WebSocket were not changed: \(error)")
    }
  }
}

/// The line of a subscription, which does not keep the connection.
struct SubscriptionLine: OperationRunner {
  private weak let line: SocketLine?
  private let connection: ObservedConnection
  private let url: URL

  init(_ line: SocketLine) {
    self.line = line
    connection = line.connection
    url = line.url
  }

  func results<Operation: GraphQLOperation>(
    of operation: Operation, payload: [UInt8]
  ) throws -> PullStream<GraphQLResponse<Operation>> {
    guard let line else {
      guard connection.isShutDown else { throw CancellationError() }
      throw WebSocketError(.shutDown, "the WebSocket transport was shut down", url: url.absoluteString)
    }
    return try line.results(of: operation, payload: payload)
  }

  func skipped(_ stages: [String]) { line?.skipped(stages) }
}
