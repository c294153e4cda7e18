internal import CarabinerRESP
internal import Logging
internal import Synchronization

/// Warns of a server that may remove keys when its memory is full.
final class MemoryPolicy: Sendable {
  private struct State {
    weak var client: RedisClient?
    var isConnected = false
    /// The last policy that was warned of.
    var warned: String?
  }

  private let logger: Logger
  private let budget: Duration
  private let state = Mutex(State())

  init(_ logger: Logger, budget: Duration) { (self.logger, self.budget) = (logger, budget) }

  /// Sets the client. It may have connected before.
  func begin(_ client: RedisClient) {
    let isConnected = state.withLock { state in
      state.client = client
      return state.isConnected
    }
    if isConnected { ask(client) }
  }

  /// Called when a connection was opened, from an event loop.
  func connected() {
    let client = state.withLock { state in
      state.isConnected = true
      return state.client
    }
    if let client { ask(client) }
  }

  private func ask(_ client: RedisClient) {
    Task { [self] in
      var commands = CommandBatch()
      commands.begin("INFO", arguments: 1)
      commands.add("memory")
      // The next connection asks again.
      guard let reply = try? await client.send(commands, within: budget)[0] else { return }
      warn(reply)
    }
  }

  private func warn(_ reply: Reply) {
    let field = "maxmemory_policy:"
    let policy = (reply.string ?? "").split(whereSeparator: \.isNewline).first { $0.hasPrefix(field) }?.dropFirst(field.count)
    guard let policy else {
      logger.info(
        "the user may not ask Redis for its memory policy (INFO); check that maxmemory-policy is noeviction, or mutations may run twice"
      )
      return
    }
    let name = String(policy.prefix(40).filter { $0.isASCII && ($0.isLetter || $0 == "-") })
    let isNew = state.withLock { state in
      defer { state.warned = name }
      return state.warned != name
    }
    guard name != "noeviction", isNew else { return }
    logger.warning(
      """
      Redis removes keys when its memory is full (maxmemory-policy \(name)), and a mutation whose key was removed may run twice; \
      set maxmemory-policy noeviction
      """)
  }
}
