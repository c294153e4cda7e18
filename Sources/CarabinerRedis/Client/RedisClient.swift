package import CarabinerRESP
package import Logging

/// Sends commands to a Redis or Valkey server. A slow or unreachable server delays no caller beyond its budget.
///
/// The connections are opened at once, and again whenever they are lost. A call is pipelined with all others. It fails at once if
/// there is no connection or if too many commands wait, and otherwise at the end of its budget. After five exhausted budgets in a
/// row, the connection is closed and opened again. All calls then fail at once until the server answers a PING. In a cluster, this
/// applies to each node separately.
package final class RedisClient: Sendable {
  private enum Servers {
    case one(LinkPool)
    case cluster(RedisCluster)
  }

  private let servers: Servers
  private let isSubscriber: Bool
  let counters = ClientCounters()

  /// Creates a client and begins to connect.
  ///
  /// - Parameters:
  ///   - settings: The servers and the login. Files are read here, so the caller must not be on an event loop.
  ///   - channels: Channels to subscribe to. Such a client has one connection and takes no commands.
  ///   - home: The slot of commands without one. In a cluster, its node is connected to as soon as it is known.
  ///   - logger: Gets a line when a connection opens or fails; critical if the login is refused.
  ///   - observer: Gets pushes, and changes of connections. It is called on an event loop and must not block.
  /// - Throws: ``RedisError`` with code `invalidSettings`.
  package convenience init(
    _ settings: RedisSettings, channels: [String] = [], home: HashSlot = HashSlot(key: ""),
    logger: Logger = Logger(label: "carabiner.redis"), observer: @escaping @Sendable (RedisEvent) -> Void = { _ in }
  ) throws(RedisError) {
    try self.init(
      settings, RedisAddresses(settings.urls), channels: channels, home: home, isSpread: false, logger: logger, observer: observer
    )
  }

  /// - Parameters:
  ///   - addresses: The servers. Clients of one cluster share them, so that each knows the nodes that another one found.
  ///   - isSpread: Whether the client connects to all nodes of a cluster.
  init(
    _ settings: RedisSettings, _ addresses: RedisAddresses, channels: [String] = [], home: HashSlot, isSpread: Bool,
    logger: Logger, observer: @escaping @Sendable (RedisEvent) -> Void = { _ in }
  ) throws(RedisError) {
    let opening = try RedisOpening(settings)
    isSubscriber = !channels.isEmpty
    let counters = counters
    guard settings.isCluster, channels.isEmpty else {
      let links = (0..<(channels.isEmpty ? settings.connections : 1)).map { _ in
        RedisLink(opening, addresses, channels: channels, logger, counters, observer)
      }
      servers = .one(LinkPool(links, counters))
      return
    }
    servers = .cluster(RedisCluster(opening, home: home, isSpread: isSpread, addresses, logger, counters, observer))
  }

  /// Whether a connection is open and its circuit is closed; in a cluster, one to the node of the home slot.
  package var isAvailable: Bool {
    switch servers {
    case .one(let pool): pool.isOpen
    case .cluster(let cluster): cluster.isAvailable
    }
  }

  /// The number of commands that have no answer yet, in all connections.
  package var waitingCommands: Int {
    switch servers {
    case .one(let pool): pool.waitingCommands
    case .cluster(let cluster): cluster.waitingCommands
    }
  }

  /// The cluster; nil if there is one server.
  var cluster: RedisCluster? {
    if case .cluster(let cluster) = servers { cluster } else { nil }
  }

  /// Sends commands in one piece and waits for their answers.
  ///
  /// - Parameters:
  ///   - commands: One or more commands.
  ///   - slot: The slot of their keys, for a cluster; nil for the home slot.
  ///   - budget: The time after which the caller goes on. Later answers are dropped.
  /// - Returns: An answer for each command, in their order. Errors of commands are answers too.
  /// - Throws: ``RedisError`` with code `unavailable`, `overloaded`, `budgetExhausted`, `connectionLost` or `cancelled`.
  package func send(
    _ commands: CommandBatch, to slot: HashSlot? = nil, within budget: Duration
  ) async throws(RedisError) -> [Reply] {
    precondition(!isSubscriber, "a client for channels")
    switch servers {
    case .one(let pool): return try await pool.send(commands, within: budget)
    case .cluster(let cluster):
      return try await cluster.send(commands, to: slot ?? cluster.home, isTransaction: false, within: budget)
    }
  }

  /// Sends commands of one key each and waits for their answers, which are in their order.
  ///
  /// - Parameter keys: The key of each command. In a cluster whose keys are spread, each command is sent to the node of its key.
  /// - Throws: ``RedisError`` as ``send(_:to:within:)``, if any command has no answer.
  func send(_ commands: CommandBatch, ofKeys keys: [String], within budget: Duration) async throws(RedisError) -> [Reply] {
    guard let cluster, cluster.isSpread else { return try await send(commands, within: budget) }
    let parts = zip(keys, commands.commands).map { SlotCommands(slot: HashSlot(key: $0), commands: $1) }
    var replies: [Reply] = []
    for result in await cluster.send(parts, within: budget) { replies += try result.get() }
    return replies
  }

  /// Runs commands as a transaction: between `MULTI` and `EXEC`, sent in one piece.
  ///
  /// - Returns: An answer for each command.
  /// - Throws: ``RedisError`` as ``send(_:to:within:)``, and with code `transactionRefused` if the server refused a command.
  package func transaction(
    _ commands: CommandBatch, to slot: HashSlot? = nil, within budget: Duration
  ) async throws(RedisError) -> [Reply] {
    switch servers {
    case .one(let pool):
      try await Transaction.run(commands) { all throws(RedisError) in try await pool.send(all, within: budget) }
    case .cluster(let cluster):
      try await Transaction.run(commands, inCluster: true) { all throws(RedisError) in
        try await cluster.send(all, to: slot ?? cluster.home, isTransaction: true, within: budget)
      }
    }
  }

  /// The connection that is open now, for commands of the home slot that depend on earlier ones over it.
  ///
  /// - Throws: ``RedisError`` with code `unavailable`.
  func session() throws(RedisError) -> RedisSession {
    switch servers {
    case .one(let pool): try RedisSession(pool.openLink(), counters)
    case .cluster(let cluster): try RedisSession(cluster.node(of: cluster.home).pool.openLink(), counters, cluster)
    }
  }

  /// Closes all connections for good. Calls that wait fail.
  package func shutDown() async {
    switch servers {
    case .one(let pool): await pool.shutDown()
    case .cluster(let cluster): await cluster.shutDown()
    }
  }
}
