internal import CarabinerRESP
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A connection that is opened again after it was lost, with the circuit that opens when Redis is too slow.
///
/// Calls never wait for a connection: while there is none, they fail at once.
final class RedisLink: @unchecked Sendable {
  // Only the event loop uses the `var` properties.

  private let opening: RedisOpening
  private let addresses: RedisAddresses
  private let channels: [String]
  private let loop: any EventLoop
  private let logger: Logger
  private let observer: @Sendable (RedisEvent) -> Void
  private let ended: @Sendable () -> Void
  private let admission: Admission
  private let counters: ClientCounters
  private let openings = Atomic<UInt64>(0)
  private let lastServer = Mutex<RedisURL?>(nil)
  /// Whether exhausted budgets have closed the connection.
  private var isCircuitOpen = false {
    didSet { if isCircuitOpen != oldValue { counters.setCircuit(isOpen: isCircuitOpen) } }
  }
  private var connection: RedisConnection?
  private var backoff: Backoff
  /// The index of the URL to try next.
  private var nextURL = 0
  private var retry: Scheduled<Void>?
  /// One timer for the next deadline of all calls. Most calls are answered long before theirs.
  private var budgets: (deadline: NIODeadline, timer: Scheduled<Void>)?
  /// The budgets that were exhausted since the last answer in time.
  private var exhausted = 0
  private var wasOpen = false
  private var openedAt = NIODeadline.now()
  /// How long a connection is kept at least, although its server refuses commands. It grows while new connections lead to such a server.
  private var refusalTime = Duration.zero
  /// Whether the connection is closed to use another server.
  private var isMoving = false
  private var isShutDown = false
  /// The last failure that was logged, which is not logged again at each attempt.
  private var logged: RedisError?
  private var generator = SystemRandomNumberGenerator()

  /// - Parameters:
  ///   - addresses: The servers. The first one that can be reached is used.
  ///   - ended: Called on the event loop when a connection was lost, or could not be opened.
  init(
    _ opening: RedisOpening, _ addresses: RedisAddresses, channels: [String] = [], _ logger: Logger, _ counters: ClientCounters,
    ended: @escaping @Sendable () -> Void = {}, _ observer: @escaping @Sendable (RedisEvent) -> Void
  ) {
    (self.opening, self.addresses, self.channels, self.logger) = (opening, addresses, channels, logger)
    (self.counters, self.ended, self.observer) = (counters, ended, observer)
    loop = MultiThreadedEventLoopGroup.singleton.next()
    admission = Admission(opening.settings.limits)
    backoff = Backoff(opening.settings.limits)
    guard !channels.isEmpty else { return }
    addresses.observeHome { [weak self] in self?.move() }
    addresses.observeRefusals { [weak self] server, code in self?.follow(from: server, because: code) }
  }

  // MARK: From any thread

  /// Whether there is a connection and the circuit is closed.
  var isOpen: Bool { admission.isOpen }

  /// The number of commands without answer.
  var waitingCommands: Int { admission.commands }

  /// The number of connections that were opened so far, which identifies the current one.
  var serial: UInt64 { openings.load(ordering: .relaxed) }

  /// The server of the connection that was opened last; nil before the first one.
  var server: RedisURL? { lastServer.withLock(\.self) }

  func start() { loop.execute { self.connect() } }

  /// Sends commands, whose answers or failure end the call.
  ///
  /// - Parameter serial: The connection that they are for; nil for any. If it was lost, the call fails.
  /// - Throws: ``RedisError`` with code `unavailable` or `overloaded`; nothing is sent then.
  func submit(
    _ commands: CommandBatch, for call: Call, within budget: Duration, onlyOn serial: UInt64? = nil
  ) throws(RedisError) {
    try admission.enter(commands: commands.count, bytes: commands.bytes.count)
    let deadline = NIODeadline.now() + TimeAmount(budget)
    loop.execute {
      guard let connection = self.connection, serial == nil || serial == self.serial else {
        self.admission.release(commands: commands.count, bytes: commands.bytes.count)
        call.finish(.failure(RedisError(.unavailable, "there is no connection to Redis, or it was lost; the log says why")))
        return
      }
      connection.send(commands, for: call, until: deadline)
      if !call.isOver { self.watch(deadline) }
    }
  }

  /// Connects to another server, if messages come from there now.
  private func move() {
    loop.execute {
      guard let connection = self.connection, !self.servers.contains(connection.server) else { return }
      let servers = self.servers.map(\.description).joined(separator: ", ")
      self.isMoving = true
      connection.fail(RedisError(.unavailable, "the messages of the cluster are read from \(servers) now"))
    }
  }

  /// Connects again, because the server of the messages has refused the commands of another connection.
  ///
  /// A server that is not the primary any more gets messages only by way of the primary, and none if that cannot be reached.
  private func follow(from server: RedisURL, because code: String) {
    loop.execute {
      guard let connection = self.connection, connection.server == server else { return }
      self.isMoving = true
      connection.fail(
        RedisError(.serverRefused, "\(server) refuses commands (\(code)); the connection for messages is made again too"))
      self.nextURL = 0
    }
  }

  /// Connects to the next server, if there is another one.
  func moveOn() {
    loop.execute {
      let urls = self.servers
      guard urls.count > 1, self.wasOpen, let connection = self.connection else { return }
      self.nextURL = (urls.firstIndex(of: connection.server) ?? 0) + 1
      self.isMoving = true
      connection.fail(RedisError(.unavailable, "\(connection.server) is left, and another node is asked for the slots"))
    }
  }

  /// Ends the connection to a server that may not be the right one any more, and connects again: the address may lead to another one, and
  /// another URL is tried first.
  ///
  /// Nodes of a cluster have one address each, and the cluster says which of them has a slot.
  private func leave(_ connection: RedisConnection, because code: String) {
    let limits = opening.settings.limits
    guard !opening.settings.isCluster, NIODeadline.now() - openedAt >= TimeAmount(refusalTime) else { return }
    let isNew = NIODeadline.now() - openedAt >= TimeAmount(limits.maximumRefusalTime)
    refusalTime = isNew ? limits.refusalTime : min(max(limits.refusalTime, refusalTime * 2), limits.maximumRefusalTime)
    addresses.refuse(connection.server, code)
    connection.fail(
      RedisError(
        .serverRefused,
        "\(connection.server) refuses commands (\(code)), so it may not be the primary any more; the connection is made again. "
          + "If it refuses again, check where the address leads"))
    nextURL = 0
  }

  func beginShutDown() { loop.execute { _ = self.closeDown() } }

  /// Closes the connection for good, and waits for its end.
  func shutDown() async {
    let closed = try? await loop.submit { self.closeDown() }.get()
    try? await closed?.get()
  }

  // MARK: On the loop

  private var servers: [RedisURL] { channels.isEmpty ? addresses.list : addresses.ofMessages }

  private func closeDown() -> EventLoopFuture<Void>? {
    isShutDown = true
    isCircuitOpen = false
    retry?.cancel()
    budgets?.timer.cancel()
    let connection = connection
    connection?.fail(RedisError(.unavailable, "the client was shut down"))
    return connection?.closed
  }

  /// Lets the timer fire at a deadline or before.
  private func watch(_ deadline: NIODeadline) {
    if let budgets, budgets.deadline <= deadline { return }
    budgets?.timer.cancel()
    budgets = (deadline, loop.scheduleTask(deadline: deadline) { self.checkBudgets() })
  }

  private func checkBudgets() {
    budgets = nil
    guard let (passed, next) = connection?.deadlines(at: .now()) else { return }
    if let next { watch(next) }
    for call in passed { budgetEnded(call) }
  }

  private func budgetEnded(_ call: Call) {
    guard call.finish(.failure(RedisError(.budgetExhausted, "Redis did not answer within the budget; check its load"))) else {
      return
    }
    exhausted += 1
    guard exhausted >= opening.settings.limits.exhaustedBudgets else { return }
    isCircuitOpen = true
    connection?.fail(
      RedisError(
        .unavailable,
        "Redis is not used for now: \(exhausted) calls in a row were not answered within their budget; check its load"))
  }

  private func connect() {
    guard !isShutDown else { return }
    retry = nil
    let urls = servers
    let connection = RedisConnection(opening, urls[nextURL % urls.count], channels: channels, loop, admission) {
      [weak self] connection, event in
      // Events of an abandoned connection are ignored.
      guard let self, connection === self.connection else { return }
      take(event)
    }
    connection.answeredInTime = { [weak self] in self?.exhausted = 0 }
    connection.wasUnfit = { [weak self, weak connection] code in
      if let self, let connection { leave(connection, because: code) }
    }
    self.connection = connection
    connection.open()
  }

  private func take(_ event: RedisConnection.Event) {
    switch event {
    case .opened:
      (exhausted, wasOpen, logged, openedAt) = (0, true, nil, .now())
      isCircuitOpen = false
      let server = connection?.server
      lastServer.withLock { $0 = server }
      if serial > 0 { counters.countReopened() }
      openings.wrappingAdd(1, ordering: .relaxed)
      backoff.reset()
      nextURL = 0
      admission.setOpen(true)
      logger.info("connected to \(server?.description ?? "")")
      observer(.opened)
    case .push(let reply): observer(.push(reply))
    case .over(let error):
      connection = nil
      if wasOpen { observer(.lost) } else { nextURL += 1 }
      wasOpen = false
      guard !isShutDown else { return }
      if isMoving { logger.info("\(error.message)") } else { log(error) }
      isMoving = false
      ended()
      retry = loop.scheduleTask(in: TimeAmount(backoff.delay(&generator))) { self.connect() }
    }
  }

  private func log(_ error: RedisError) {
    guard error != logged else { return }
    logged = error
    logger.log(level: error.code == .loginRefused ? .critical : .warning, "\(error.message)")
  }
}
