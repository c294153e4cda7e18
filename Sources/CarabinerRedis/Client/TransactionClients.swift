internal import CarabinerRESP
internal import Logging
internal import Synchronization

/// The connections of transactions. Each transaction has its own, because the end of a transaction ends all watches of a
/// connection.
final class TransactionClients: Sendable {
  /// A store runs one transaction at a time, so more idle ones would not be used.
  private static let maximumIdle = 1
  /// The most commands and bytes of one transaction.
  private static let maximumCommands = 200_000
  private static let maximumBytes = 64 << 20
  private static let interval = Duration.milliseconds(2)

  private let settings: RedisSettings
  private let addresses: RedisAddresses
  private let home: HashSlot
  private let logger: Logger
  private let idle = Mutex<[RedisClient]>([])

  /// - Parameter home: The slot of the store.
  init(_ settings: RedisSettings, _ addresses: RedisAddresses, home: HashSlot, _ logger: Logger) {
    var settings = settings
    settings.connections = 1
    (settings.limits.waitingCommands, settings.limits.waitingBytes) = (Self.maximumCommands, Self.maximumBytes)
    (self.settings, self.addresses, self.home, self.logger) = (settings, addresses, home, logger)
  }

  /// Takes a client that is connected.
  ///
  /// - Parameter isWorthwhile: Whether a connection may still be waited for.
  /// - Throws: ``RedisError``, `CancellationError`.
  func take(
    until deadline: ContinuousClock.Instant, while isWorthwhile: () -> Bool
  ) async throws -> (client: RedisClient, session: RedisSession) {
    let client =
      try idle.withLock { $0.popLast() } ?? RedisClient(settings, addresses, home: home, isSpread: false, logger: logger)
    do {
      while !client.isAvailable, isWorthwhile(), .now < deadline { try await Task.sleep(for: Self.interval) }
      return (client, try client.session())
    } catch {
      // It goes on connecting, less and less often.
      giveBack(client)
      throw error
    }
  }

  /// Gives a client back. If enough clients are idle, it is closed.
  func giveBack(_ client: RedisClient) {
    idle.withLock { if $0.count < Self.maximumIdle { $0.append(client) } }
  }
}
