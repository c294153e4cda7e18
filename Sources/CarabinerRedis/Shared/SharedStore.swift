package import CarabinerRESP
package import Logging
internal import NIOCore
internal import Synchronization

/// State in Redis or Valkey that the gateways of a fleet share beside their records: the rates of clients, and the keys of mutations.
package final class SharedStore: Sendable {
  /// The most commands and bytes that wait: a round of rates has up to six commands for a client.
  private static let maximumCommands = 64_000
  private static let maximumBytes = 64 << 20
  private let client: RedisClient
  /// The beginning of all keys.
  let tag: String
  let clock: ServerClock
  let logger: Logger
  /// The local time of the last answer about the time, in milliseconds.
  private let askedAt = Atomic<Int64>(0)
  /// The time for an answer.
  let budget: Duration

  /// Creates a store and begins to connect.
  ///
  /// - Parameters:
  ///   - prefix: Letters, digits and hyphens. Gateways with the same servers and prefix share their state.
  ///   - budget: The most time that a mutation or a round of rates waits for an answer.
  ///   - needsMemory: Whether losing keys would lead to errors, so that a server that removes keys is warned of.
  /// - Throws: ``RedisError`` with code `invalidSettings`.
  package init(
    _ settings: RedisSettings, prefix: String, budget: Duration = .seconds(1), needsMemory: Bool = false,
    logger: Logger = Logger(label: "carabiner.shared")
  ) throws(RedisError) {
    guard StorePrefix.isValid(prefix) else {
      throw RedisError(
        .invalidSettings, "the prefix is not valid; use 1 to \(StorePrefix.maximumBytes) letters, digits and hyphens")
    }
    var settings = settings
    (settings.limits.waitingCommands, settings.limits.waitingBytes) = (Self.maximumCommands, Self.maximumBytes)
    tag = StoreLayout(prefix: prefix).tag
    clock = ServerClock { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }
    (self.budget, self.logger) = (budget, logger)
    let policy = MemoryPolicy(logger, budget: budget)
    // In a cluster, all keys are on one master, because of the tag.
    client = try RedisClient(settings, home: HashSlot(key: tag), logger: logger) { event in
      if needsMemory, case .opened = event { policy.connected() }
    }
    policy.begin(client)
  }

  /// Whether there is a connection.
  package var isAvailable: Bool { client.isAvailable }

  /// Waits until there is a connection, or a time has passed.
  package func connected(within time: Duration) async {
    let end = ContinuousClock.now + time
    while !isAvailable, .now < end { try? await Task.sleep(for: .milliseconds(5)) }
  }

  /// The state of the connections, and the commands by their result.
  package var metrics: (use: RedisMetrics.Use, commands: [String: Int]) {
    let use = RedisMetrics.Use(
      name: "shared", isUp: isAvailable, isCircuitOpen: client.counters.openCircuits > 0,
      reconnects: client.counters.reconnects)
    return (use, client.counters.commands)
  }

  /// Sends commands, with a question for the time of the server before them.
  ///
  /// - Returns: The answers, without that of the time.
  func send(_ commands: CommandBatch) async throws(RedisError) -> [Reply] {
    var all = CommandBatch(capacity: commands.bytes.count + 32)
    all.begin("TIME", arguments: 0)
    all.append(commands)
    let askedAt = clock.now
    let replies = try await client.send(all, within: budget)
    let parts = replies[0].values.compactMap { $0.string.flatMap { Int64($0) } }
    guard parts.count == 2, (0...Self.maximumSeconds).contains(parts[0]), (0..<1_000_000).contains(parts[1]) else {
      throw Self.refusal("TIME", replies[0])
    }
    self.askedAt.store(askedAt, ordering: .relaxed)
    clock.set(seconds: parts[0], microseconds: parts[1], askedAt: askedAt, answeredAt: clock.now)
    return Array(replies.dropFirst())
  }

  /// The time of Redis in milliseconds since 1970; nil if it was not asked for lately, because clocks drift and are set.
  var now: Int64? {
    let now = clock.now
    guard let offset = clock.offset, now - askedAt.load(ordering: .relaxed) <= Self.maximumAge else { return nil }
    return now + offset
  }

  private static let maximumAge: Int64 = 10_000

  /// The seconds since 1970 that 13 digits of milliseconds can say.
  private static let maximumSeconds: Int64 = 9_999_999_999

  static func refusal(_ command: String, _ reply: Reply) -> RedisError {
    let advice = reply.unfitCode == nil ? "let the user run it" : "check which server is the primary; the log says more"
    return RedisError(.serverRefused, "Redis refused \(command) (\(reply.errorText ?? "its answer is malformed")); \(advice)")
  }
}
