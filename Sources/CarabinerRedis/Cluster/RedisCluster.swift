internal import CarabinerRESP
internal import Logging
internal import Synchronization

/// The nodes of a cluster: which node has each slot, and the connections to the nodes that are used.
///
/// One connection requests the slots, from any node that can be reached. The connections for commands are opened when the first
/// command for their node is sent; that command fails. Addresses come from the cluster, so their number is limited.
final class RedisCluster: Sendable {
  struct State {
    var map = SlotMap()
    var pools: [RedisURL: LinkPool] = [:]
    /// Nodes that are not in the map, and when a command was last redirected to them.
    var strangers: [RedisURL: ContinuousClock.Instant] = [:]
    /// The connection that asks for the slots.
    var control: LinkPool?
    var isAsking = false
    /// Whether the slots must be asked for again after the answer.
    var isOutdated = false
    var askedAt: ContinuousClock.Instant?
    /// The delay before the next request if the last answer was incomplete.
    var delay = Duration.zero
    var isShutDown = false
    /// The number of changes of slots that this client has seen.
    var changes = 0
    /// The last failure that was logged, which is not logged again at each answer.
    var logged: String?
    var refusalLoggedAt: ContinuousClock.Instant?
    /// The node that a redirect has named last. It is asked for the slots first, because it knows more than others.
    var informed: RedisURL?
    /// The node that last refused commands of its slots. It is asked last, because it may have been cut off from the cluster.
    var doubted: RedisURL?
    /// When the doubt ends, unless the node refuses further commands.
    var doubtEnd = ContinuousClock.now
    /// When the connection that asks for the slots last had to try another server.
    var movedAt: ContinuousClock.Instant?
    /// The time until the next such attempt, which is doubled each time.
    var moveDelay = Duration.zero
  }

  private static let openingInterval = Duration.milliseconds(2)

  let opening: RedisOpening
  let home: HashSlot
  /// Whether the client connects to all nodes, and not only to that of the home slot.
  let isSpread: Bool
  let addresses: RedisAddresses
  let logger: Logger
  let state = Mutex(State())
  private let counters: ClientCounters
  private let observer: @Sendable (RedisEvent) -> Void

  /// Begins to connect.
  ///
  /// - Parameters:
  ///   - home: The slot whose node is connected to as soon as it is known.
  ///   - observer: Gets the events of the connections for commands.
  init(
    _ opening: RedisOpening, home: HashSlot, isSpread: Bool, _ addresses: RedisAddresses, _ logger: Logger,
    _ counters: ClientCounters, _ observer: @escaping @Sendable (RedisEvent) -> Void
  ) {
    (self.opening, self.home, self.isSpread, self.addresses) = (opening, home, isSpread, addresses)
    (self.logger, self.counters, self.observer) = (logger, counters, observer)
    // Under the lock: it may open before this returns, and the request for the slots that follows must find it.
    state.withLock { state in
      let link = RedisLink(opening, addresses, logger, counters) { [weak self] event in
        if case .opened = event { self?.askForSlots() }
      }
      state.control = LinkPool([link], counters)
    }
  }

  var limits: RedisLimits { opening.settings.limits }

  /// Whether the node of the home slot can be used.
  var isAvailable: Bool {
    state.withLock { state in state.map[home].flatMap { state.pools[$0] } }?.isOpen == true
  }

  var waitingCommands: Int { state.withLock { Array($0.pools.values) }.reduce(0) { $0 + $1.waitingCommands } }

  /// The number of nodes to which there are connections, or which are being connected to.
  var nodeCount: Int { state.withLock(\.pools.count) }

  /// The number of changes of slots that this client has seen.
  var changes: Int { state.withLock(\.changes) }

  /// Closes all connections for good.
  func shutDown() async {
    let pools = state.withLock { state in
      defer {
        (state.pools, state.control, state.map, state.strangers, state.isShutDown) = ([:], nil, SlotMap(), [:], true)
      }
      return Array(state.pools.values) + (state.control.map { [$0] } ?? [])
    }
    for pool in pools { await pool.shutDown() }
  }

  // MARK: Nodes

  /// The node of a slot, and its connections.
  ///
  /// - Throws: ``RedisError`` with code `unavailable`.
  func node(of slot: HashSlot) throws(RedisError) -> (address: RedisURL, pool: LinkPool) {
    let found = state.withLock { state -> (RedisURL, LinkPool)? in
      guard let node = state.map[slot] else { return nil }
      return (node, pool(of: node, &state))
    }
    if let found { return found }
    askForSlots()
    throw RedisError(.unavailable, "no node of the cluster is known for the slot \(slot.number); the log says why")
  }

  /// The nodes that may have keys: all masters, and those to which slots are being moved.
  var keyHolders: [RedisURL] {
    state.withLock { state in
      prune(&state)
      return state.map.nodes + state.strangers.keys
    }
  }

  /// The connections to one of ``keyHolders``, of which one is open.
  ///
  /// - Throws: ``RedisError`` with code `unavailable` if none is in time, `CancellationError`.
  func opened(_ node: RedisURL, until deadline: ContinuousClock.Instant) async throws -> LinkPool {
    let known = state.withLock { state -> LinkPool? in
      state.map.nodes.contains(node) || state.strangers[node] != nil ? pool(of: node, &state) : nil
    }
    guard let pool = known else { throw RedisError(.unavailable, "\(node) does not belong to the cluster any more; try again") }
    while !pool.isOpen {
      guard .now < deadline else { throw RedisError(.unavailable, "there is no connection to \(node); the log says why") }
      try await Task.sleep(for: Self.openingInterval)
    }
    return pool
  }

  /// The connections to the node that a redirect names; nil if there are too many nodes.
  func target(of redirect: Redirect) -> LinkPool? {
    // Afterwards, so that the node of the redirect is asked first.
    defer { if !redirect.isOnce { askForSlots() } }
    let found = state.withLock { state -> LinkPool? in
      guard !state.isShutDown else { return nil }
      state.changes += 1
      if !state.map.nodes.contains(redirect.node) {
        prune(&state)
        guard state.strangers[redirect.node] != nil || state.strangers.count < limits.strangers else { return nil }
        state.strangers[redirect.node] = .now
      } else if !redirect.isOnce {
        state.map.move(redirect.slot, to: redirect.node)
      }
      if !redirect.isOnce {
        state.informed = redirect.node
        if state.doubted == redirect.node { state.doubted = nil }
      }
      return pool(of: redirect.node, &state)
    }
    if found != nil, !redirect.isOnce, redirect.slot == home { addresses.setHome(redirect.node) }
    return found
  }

  private func pool(of node: RedisURL, _ state: inout State) -> LinkPool {
    if let pool = state.pools[node] { return pool }
    let address = RedisAddresses([node])
    let links = (0..<opening.settings.connections).map { _ in
      RedisLink(opening, address, logger, counters, ended: { [weak self] in self?.askForSlots() }, observer)
    }
    let pool = LinkPool(links, counters)
    state.pools[node] = pool
    return pool
  }

  /// Forgets nodes that are not in the map and to which nothing was redirected for some time. Their connections are closed when their
  /// calls have ended.
  private func prune(_ state: inout State) {
    let oldest = ContinuousClock.now - limits.strangerTime
    state.strangers = state.strangers.filter { $0.value > oldest }
    let known = Set(state.map.nodes)
    state.pools = state.pools.filter { known.contains($0.key) || state.strangers[$0.key] != nil }
  }

  /// Uses a new map.
  func use(_ map: SlotMap) {
    state.withLock { state in
      guard !state.isShutDown else { return }
      if state.map != map { state.changes += 1 }
      (state.map, state.logged) = (map, nil)
      if let doubted = state.doubted, !map.nodes.contains(doubted), state.control?.server != doubted { state.doubted = nil }
      if state.doubted == nil { state.moveDelay = .zero }
      for node in map.nodes { state.strangers[node] = nil }
      prune(&state)
      for node in isSpread ? map.nodes : map[home].map({ [$0] }) ?? [] { _ = pool(of: node, &state) }
    }
    addresses.set(map.nodes)
    addresses.setHome(map[home])
  }
}
