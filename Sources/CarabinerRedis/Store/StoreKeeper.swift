internal import CarabinerRESP
internal import Logging
internal import Synchronization

/// Reads the clock of Redis and checks the version of the layout, at each connection and every 30 seconds.
final class StoreKeeper: Sendable {
  private struct State {
    weak var client: RedisClient?
    var isReady = false
    var isConnected = false
    var hasLoggedVersion = false
    /// The last refusal that was logged, which is not logged again at each round.
    var refusal: String?
    /// Whether a round comes soon, because the last one ended with an error that will pass.
    var isSoon = false
    var rounds: Task<Void, Never>?
  }

  private static let interval = Duration.seconds(30)
  private static let soon = Duration.seconds(1)
  /// The time for an answer.
  private static let budget = Duration.seconds(2)
  /// The life of the version's key, which each round renews.
  private static let versionLife = 24 * 3_600_000
  /// The clock is asked again while answers take longer, in milliseconds.
  private static let goodRoundTrip: Int64 = 20
  private static let clockQuestions = 5
  /// The seconds since 1970 that 13 digits of milliseconds can say.
  private static let times: ClosedRange<Int64> = 0...9_999_999_999

  private let layout: StoreLayout
  private let clock: ServerClock
  /// Whether the version's key is neither made nor renewed.
  private let isReadOnly: Bool
  private let logger: Logger
  private let state = Mutex(State())

  init(_ layout: StoreLayout, _ clock: ServerClock, isReadOnly: Bool, _ logger: Logger) {
    (self.layout, self.clock, self.isReadOnly, self.logger) = (layout, clock, isReadOnly, logger)
  }

  /// Whether the store can be used if there is a connection.
  var isReady: Bool { state.withLock(\.isReady) }

  /// Begins with the rounds. The client may have connected before.
  func begin(_ client: RedisClient) {
    let isConnected = state.withLock { state in
      state.client = client
      state.rounds = Task { [weak self] in
        while !Task.isCancelled {
          try? await Task.sleep(for: Self.interval)
          await self?.look()
        }
      }
      return state.isConnected
    }
    if isConnected { connected() }
  }

  func end() { state.withLock(\.rounds)?.cancel() }

  /// Called when a connection was opened, from an event loop.
  func connected() {
    state.withLock { $0.isConnected = true }
    Task { [weak self] in await self?.look() }
  }

  private func look() async {
    guard let client = state.withLock({ $0.client }), client.isAvailable else { return }
    do {
      try await ask(client)
    } catch {
      // The next connection or round tries again.
      logger.debug("the store in Redis was not looked at: \(error)")
      if client.cluster != nil { lookSoon() }
    }
  }

  /// Looks again in a second, without another connection: slots of a cluster are being moved, for example.
  private func lookSoon() {
    let begins = state.withLock { state in
      defer { state.isSoon = true }
      return !state.isSoon
    }
    guard begins else { return }
    Task { [weak self] in
      try? await Task.sleep(for: Self.soon)
      self?.state.withLock { $0.isSoon = false }
      await self?.look()
    }
  }

  private func ask(_ client: RedisClient) async throws {
    for number in 0..<Self.clockQuestions {
      var commands = CommandBatch()
      commands.begin("TIME", arguments: 0)
      let askedAt = clock.now
      let reply = try await client.send(commands, within: Self.budget)[0]
      let answeredAt = clock.now
      let parts = reply.values.compactMap { $0.string.flatMap { Int64($0) } }
      guard parts.count == 2, reply.values.count == 2, Self.times.contains(parts[0]), (0..<1_000_000).contains(parts[1]) else {
        return refuse("TIME", reply)
      }
      clock.set(seconds: parts[0], microseconds: parts[1], askedAt: askedAt, answeredAt: answeredAt)
      if answeredAt - askedAt <= Self.goodRoundTrip || number > 0 && isReady { break }
    }
    var commands = CommandBatch()
    guard !isReadOnly else {
      commands.begin("GET", arguments: 1)
      commands.add(layout.versionKey)
      return take(try await client.send(commands, within: Self.budget)[0])
    }
    commands.begin("SET", arguments: 5)
    commands.add(layout.versionKey)
    commands.add(StoreLayout.version)
    commands.add("NX")
    commands.add("PX")
    commands.add(Self.versionLife)
    commands.begin("GET", arguments: 1)
    commands.add(layout.versionKey)
    commands.begin("PEXPIRE", arguments: 2)
    commands.add(layout.versionKey)
    commands.add(Self.versionLife)
    take(try await client.send(commands, within: Self.budget)[1])
  }

  /// Takes the version of the layout.
  private func take(_ reply: Reply) {
    // A store without a version is empty.
    let text = isReadOnly && reply.isNull ? "\(StoreLayout.version)" : reply.string
    guard let version = text.flatMap({ Int($0) }) else { return refuse("GET", reply) }
    let isReady = version <= StoreLayout.version
    let logs = state.withLock { state in
      defer { state.hasLoggedVersion = !isReady }
      (state.isReady, state.refusal) = (isReady, nil)
      return !isReady && !state.hasLoggedVersion
    }
    guard logs else { return }
    logger.error(
      """
      the store \(layout.tag) in Redis has version \(version) and this program supports version \(StoreLayout.version), so it is not used; \
      update the program or set another prefix [newerVersion]
      """)
  }

  private func refuse(_ command: String, _ reply: Reply) {
    let isInCluster = state.withLock(\.client)?.cluster != nil
    // The slots of a cluster move, and its nodes fail over.
    if reply.isUnavailable, isInCluster { return lookSoon() }
    let advice =
      switch reply.errorCode {
      case "MOVED", "ASK": "the server is a node of a cluster, so set cluster: true"
      case _ where reply.isUnavailable: "wait until it is ready"
      default: "check the user's permissions"
      }
    let isNew = state.withLock { state in
      defer { (state.isReady, state.refusal) = (false, reply.errorText ?? "") }
      return state.refusal != reply.errorText ?? ""
    }
    if reply.isUnavailable { lookSoon() }
    guard isNew else { return }
    logger.error(
      "the store in Redis is not used: \(command) failed (\(reply.errorText ?? "its answer is malformed")); \(advice)")
  }
}
