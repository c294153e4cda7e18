internal import CarabinerRESP
internal import Logging
internal import Synchronization

/// Requests for the slots.
extension RedisCluster {
  /// Begins to request the slots from a node, unless a request is under way.
  ///
  /// Many callers may notice a change at once, so two requests are at least an interval apart.
  func askForSlots() {
    let begins = state.withLock { state in
      guard !state.isShutDown else { return false }
      state.isOutdated = true
      defer { state.isAsking = true }
      return !state.isAsking
    }
    if begins { Task { [weak self] in while await self?.askOnce() == true {} } }
  }

  /// Asks, and returns whether it must be done again.
  private func askOnce() async -> Bool {
    let (last, delay) = state.withLock { ($0.askedAt, max(limits.refreshInterval, $0.delay)) }
    if let last { try? await Task.sleep(until: last + delay, clock: .continuous) }
    let pools = state.withLock { state in
      (state.askedAt, state.isOutdated) = (.now, false)
      if state.doubtEnd < .now { state.doubted = nil }
      let informed = state.informed.flatMap { state.pools[$0] }
      let others = state.pools.filter { $0.key != state.informed }.values
      let all = [informed, state.control].compactMap(\.self) + others
      return all.filter { $0.server != state.doubted } + all.filter { $0.server == state.doubted }
    }
    // The first one that is open and answers.
    let open = pools.filter(\.isOpen)
    var isAnswered = false
    for pool in open where !isAnswered {
      isAnswered = await ask(pool)
      if !isAnswered { state.withLock { if $0.informed == pool.server { $0.informed = nil } } }
    }
    if !open.isEmpty, !isAnswered || state.withLock(\.isControlDoubted) { moveControl() }
    return state.withLock { state in
      // An incomplete cluster does not announce when it is complete. Without an open connection, the next one that opens asks.
      let isIncomplete = !open.isEmpty && (!isAnswered || state.map[home] == nil)
      state.delay = isIncomplete ? min(max(limits.firstDelay, state.delay * 2), limits.maximumDelay) : .zero
      state.isAsking = (state.isOutdated || isIncomplete) && !state.isShutDown
      return state.isAsking
    }
  }

  /// Lets the connection that asks for the slots try the next server, because the one that it has may not belong to the cluster any more.
  private func moveControl() {
    let control = state.withLock { state -> LinkPool? in
      if let last = state.movedAt, last + state.moveDelay > .now { return nil }
      state.movedAt = .now
      state.moveDelay = min(max(Self.firstMoveDelay, state.moveDelay * 2), Self.maximumMoveDelay)
      return state.control
    }
    control?.moveOn()
  }

  private static let doubtTime = Duration.seconds(60)
  private static let firstMoveDelay = Duration.seconds(1)
  private static let maximumMoveDelay = Duration.seconds(30)

  /// Asks one node. Returns whether its answer was used.
  private func ask(_ pool: LinkPool) async -> Bool {
    var commands = CommandBatch()
    commands.begin("CLUSTER", arguments: 1)
    commands.add("SLOTS")
    guard let server = pool.server, let reply = try? await pool.send(commands, within: limits.openingTime).first else {
      return false
    }
    if let text = reply.errorText {
      let advice =
        switch reply.errorCode {
        case "NOPERM": "let the user run CLUSTER SLOTS and ASKING"
        case "ERR": "if it is not a node of a cluster, remove cluster: true"
        default: "check the cluster"
        }
      let level: Logger.Level = reply.errorCode == "NOPERM" ? .critical : .warning
      log(level, "\(server) refused CLUSTER SLOTS (\(text)); \(advice)", unlessLogged: text)
      return false
    }
    do throws(SlotMap.Fault) {
      let map = try SlotMap(reply, from: server, maximumNodes: limits.clusterNodes)
      guard !map.nodes.isEmpty else { throw SlotMap.Fault(reason: "no node has a slot") }
      use(map)
      return true
    } catch {
      log(
        .warning, "the answer of \(server) to CLUSTER SLOTS is not used: \(error.reason); check the cluster",
        unlessLogged: error.reason)
      return false
    }
  }

  /// - Parameter reason: The fault, whatever the server, because another one is asked each time.
  private func log(_ level: Logger.Level, _ message: String, unlessLogged reason: String) {
    let isNew = state.withLock { state in
      defer { state.logged = reason }
      return state.logged != reason
    }
    if isNew { logger.log(level: level, "\(message)") }
  }

  /// How often a refusal is logged at most.
  private static let refusalInterval = Duration.seconds(10)

  /// Looks at the errors among answers: they may mean that the slots have changed.
  ///
  /// - Parameter node: The node that answered; nil if it is not known.
  func note(_ replies: some Sequence<Reply>, from node: RedisURL?) {
    guard let reply = replies.first(where: \.isUnavailable), let code = reply.errorCode else { return }
    // Slots that are being moved have the same node until the end.
    if code == "ASK" || code == "TRYAGAIN" { return state.withLock { $0.changes += 1 } }
    guard code != "MOVED" else { return askForSlots() }
    if let node, code != "LOADING" { state.withLock { ($0.doubted, $0.doubtEnd) = (node, .now + Self.doubtTime) } }
    askForSlots()
    let logs = state.withLock { state in
      if let last = state.refusalLoggedAt, last + Self.refusalInterval > .now { return false }
      state.refusalLoggedAt = .now
      return true
    }
    if logs { logger.warning("the cluster refuses commands (\(reply.errorText ?? code)); check its nodes") }
  }
}

extension RedisCluster.State {
  /// Whether the connection that asks for the slots may be one to the doubted node, which the settings may name by a host name.
  fileprivate var isControlDoubted: Bool {
    guard let doubted, let server = control?.server else { return false }
    return server == doubted || !map.nodes.contains(server)
  }
}
