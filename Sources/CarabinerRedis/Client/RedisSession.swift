internal import CarabinerRESP

/// One connection of a client, for commands that depend on earlier ones: `WATCH` and the transaction after it.
///
/// When the connection is lost, all further commands fail, also if there is a new one.
struct RedisSession: Sendable {
  private let link: RedisLink
  private let serial: UInt64
  private let counters: ClientCounters
  /// The cluster of the connection; nil without one. A redirect is not followed, because the watches are of this connection.
  private let cluster: RedisCluster?

  init(_ link: RedisLink, _ counters: ClientCounters, _ cluster: RedisCluster? = nil) {
    (self.link, self.counters, self.cluster) = (link, counters, cluster)
    serial = link.serial
  }

  /// Sends commands in one piece and waits for their answers.
  ///
  /// - Throws: ``RedisError`` as ``RedisClient/send(_:within:)``.
  func send(_ commands: CommandBatch, within budget: Duration) async throws(RedisError) -> [Reply] {
    let replies = try await Call.send(commands, within: budget, counters) { call throws(RedisError) in
      try link.submit(commands, for: call, within: budget, onlyOn: serial)
    }
    cluster?.note(replies, from: link.server)
    return replies
  }

  /// Sends commands before all later ones of this connection, and does not wait for their answers. Returns false if they cannot be sent.
  func post(_ commands: CommandBatch, within budget: Duration) -> Bool {
    (try? link.submit(commands, for: Call(), within: budget, onlyOn: serial)) != nil
  }

  /// Runs commands as a transaction.
  ///
  /// - Throws: ``RedisError`` as ``RedisClient/transaction(_:within:)``, and with code `conflict` if a watched key was changed.
  func transaction(_ commands: CommandBatch, within budget: Duration) async throws(RedisError) -> [Reply] {
    try await Transaction.run(commands, inCluster: cluster != nil) { all throws(RedisError) in try await send(all, within: budget)
    }
  }
}
