internal import Carabiner
internal import Logging
internal import NIOHTTP1
internal import Synchronization

/// The access log entry of one request. The line is written once, when the request ends.
final class AccessLogEntry: Sendable {
  /// The maximum number of characters of an operation's name in a line. Clients choose the name.
  private static let maximumNameLength = 100

  private struct State {
    var operation: String?
    var type: GraphQLOperationType?
    var count = 0
    var generation: UInt64?
    var plugin: String?
    var code: String?
    var isWritten = false
  }

  private let logger: Logger
  private let id: String
  private let client: String
  private let state = Mutex(State())

  init(_ logger: Logger, id: String, client: String) {
    self.logger = logger
    self.id = id
    self.client = client
  }

  /// Records the name and type of the first operation.
  func note(_ inbound: InboundOperations) {
    state.withLock { state in
      let first = inbound.operations.first
      state.operation = first?.operationName.map { String($0.prefix(Self.maximumNameLength)) }
      state.type = first?.operationType
      state.count = inbound.list?.count ?? 1
    }
  }

  /// Records the generation that runs the operation.
  func note(generation: UInt64) { state.withLock { $0.generation = generation } }

  /// Records a failure, and the plugin that caused it, if any.
  func note(failure code: String, plugin: String?) {
    state.withLock { state in
      state.code = code
      state.plugin = plugin
    }
  }

  /// Writes the line, unless it has been written.
  ///
  /// - Parameter status: The status of the response; nil if the client disconnected before it.
  func end(_ status: Int?, after time: Duration) {
    let (isFirst, state) = state.withLock { state in
      defer { state.isWritten = true }
      return (!state.isWritten, state)
    }
    guard isFirst else { return }
    var fields: Logger.Metadata = [
      "request_id": .string(id), "client": .string(client), "duration_ms": .stringConvertible(time.loggedMilliseconds),
    ]
    if let status { fields["status"] = .stringConvertible(status) } else { fields["cancelled"] = .stringConvertible(true) }
    if let type = state.type {
      fields["operation"] = .string(state.operation ?? "anonymous")
      fields["type"] = .string(type.rawValue)
    }
    if state.count > 1 { fields["operations"] = .stringConvertible(state.count) }
    if let generation = state.generation { fields["generation"] = .stringConvertible(generation) }
    if let code = state.code { fields["code"] = .string(code) }
    if let plugin = state.plugin { fields["plugin"] = .string(plugin) }
    logger.info("request", metadata: fields)
  }
}

extension Duration {
  /// Milliseconds, rounded to microseconds.
  fileprivate var loggedMilliseconds: Double {
    (Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12).rounded() / 1e3
  }
}
