internal import Carabiner
internal import Logging
internal import NIOHTTP1
internal import Synchronization

/// What there is to say about one request once it is over; written down by its last word.
final class AccessLogEntry: Sendable {
  /// How much of an operation's name a line has; the client chose it.
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

  /// What the client asks for.
  func note(_ operations: [DynamicOperation]) {
    state.withLock { state in
      state.operation = operations.first?.operationName.map { String($0.prefix(Self.maximumNameLength)) }
      state.type = operations.first?.operationType
      state.count = operations.count
    }
  }

  /// Which generation runs it.
  func note(generation: UInt64) { state.withLock { $0.generation = generation } }

  /// That it failed, and whose doing that was if it was a plugin's.
  func note(failure code: String, plugin: String?) {
    state.withLock { state in
      state.code = code
      state.plugin = plugin
    }
  }

  /// Writes the line.
  ///
  /// - Parameter status: Nil if the client went before there was an answer.
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
  /// Milliseconds to the microsecond.
  fileprivate var loggedMilliseconds: Double {
    (Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12).rounded() / 1e3
  }
}
