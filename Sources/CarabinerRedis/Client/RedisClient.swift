package import CarabinerRESP
package import Logging
internal import Synchronization

/// Commands to a Redis or Valkey server that may be slow, silent or gone, without delay for the caller beyond its budget.
///
/// The connections are opened at once and again whenever they are lost. A call is pipelined with all others. It fails at once if there is
/// no connection or too much waits, and at the end of its budget otherwise. After five exhausted budgets in a row the connection is closed
/// and made again, and until it answers a PING all calls fail at once.
package final class RedisClient: Sendable {
  private let links: [RedisLink]
  private let next = Atomic<Int>(0)
  private let isSubscriber: Bool
  let counters = ClientCounters()

  /// Creates a client and begins to connect.
  ///
  /// - Parameters:
  ///   - settings: The servers and the login. Files are read here, so the caller must not be on an event loop.
  ///   - channels: Channels to subscribe to. Such a client has one connection and takes no commands.
  ///   - logger: Gets a line when a connection opens or fails; critical if the login is refused.
  ///   - observer: Gets pushes, and changes of connections. It is called on an event loop and must not block.
  /// - Throws: ``RedisError`` with code `invalidSettings`.
  package init(
    _ settings: RedisSettings, channels: [String] = [], logger: Logger = Logger(label: "carabiner.redis"),
    observer: @escaping @Sendable (RedisEvent) -> Void = { _ in }
  ) throws(RedisError) {
    let opening = try RedisOpening(settings)
    isSubscriber = !channels.isEmpty
    let counters = counters
    links = (0..<(channels.isEmpty ? settings.connections : 1)).map { _ in
      RedisLink(opening, channels: channels, logger, counters, observer)
    }
    for link in links { link.start() }
  }

  deinit {
    for link in links { link.beginShutDown() }
  }

  /// Whether a connection is open and its circuit is closed.
  package var isAvailable: Bool { links.contains(where: \.isOpen) }

  /// The number of commands that have no answer yet, in all connections.
  package var waitingCommands: Int { links.reduce(0) { $0 + $1.waitingCommands } }

  /// Sends commands in one piece and waits for their answers.
  ///
  /// - Parameters:
  ///   - commands: One or more commands.
  ///   - budget: The time after which the caller goes on. Later answers are dropped.
  /// - Returns: An answer for each command, in their order. Errors of commands are answers too.
  /// - Throws: ``RedisError`` with code `unavailable`, `overloaded`, `budgetExhausted`, `connectionLost` or `cancelled`.
  package func send(_ commands: CommandBatch, within budget: Duration) async throws(RedisError) -> [Reply] {
    precondition(!isSubscriber, "a client for channels")
    return try await Call.send(commands, within: budget, counters) { call throws(RedisError) in
      try submit(commands, for: call, within: budget)
    }
  }

  /// The connection that is open now, for commands that depend on earlier ones over it.
  ///
  /// - Throws: ``RedisError`` with code `unavailable`.
  func session() throws(RedisError) -> RedisSession {
    guard let link = links.first(where: \.isOpen) else {
      throw RedisError(.unavailable, "there is no connection to Redis; the log says why")
    }
    return RedisSession(link, counters)
  }

  /// Passes a call to the next connection that takes it.
  private func submit(_ commands: CommandBatch, for call: Call, within budget: Duration) throws(RedisError) {
    let first = links.count == 1 ? 0 : next.wrappingAdd(1, ordering: .relaxed).newValue & Int.max
    var refusal: RedisError?
    for index in 0..<links.count {
      do throws(RedisError) {
        return try links[(first % links.count + index) % links.count].submit(commands, for: call, within: budget)
      } catch {
        // Too much load says more than a lost connection.
        if refusal?.code != .overloaded { refusal = error }
      }
    }
    throw refusal ?? RedisError(.unavailable, "there is no connection to Redis; the log says why")
  }

  /// Runs commands as a transaction: between `MULTI` and `EXEC`, sent in one piece.
  ///
  /// - Returns: An answer for each command.
  /// - Throws: ``RedisError`` as ``send(_:within:)``, and with code `transactionRefused` if the server refused a command.
  package func transaction(_ commands: CommandBatch, within budget: Duration) async throws(RedisError) -> [Reply] {
    try await Transaction.run(commands) { all throws(RedisError) in try await send(all, within: budget) }
  }

  /// Closes all connections for good. Calls that wait fail.
  package func shutDown() async {
    for link in links { await link.shutDown() }
  }
}
