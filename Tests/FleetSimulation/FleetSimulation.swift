internal import CarabinerFleet

/// A roll-out in virtual time: the nodes apply ``RolloutRule`` itself, not a copy.
///
/// Simulated are the store, the network, the clocks, and what plugins and machines do. After each change of the store, what must never
/// happen is checked: two candidates, more nodes with the candidate than the stage has, a stage that ends early, a halt that is not final.
package struct FleetSimulation {
  private enum Event {
    /// The candidate is published.
    case publish
    /// Another candidate is published while the first is there.
    case publishRival
    /// A control key's change reaches a node.
    case keysChanged(node: Int)
    /// A second has passed for a node.
    case tick(node: Int, process: Int)
    /// A transaction of a node reaches the store.
    case transaction(node: Int, process: Int, RolloutAction, ControlKeys)
    case trialEnded(node: Int, process: Int)
    /// A plugin, or the machine, ends the process.
    case crash(node: Int, process: Int)
    case machineFault
    case restart(node: Int)
    case leaseEnded(node: Int, lease: Int)
    case partition
    case healed([Int])
    case keepAlives
  }

  private static let leaseTime = VirtualTime.seconds(15)
  private static let restartTime = VirtualTime.seconds(3)

  private let settings: SimulationSettings
  private let stable = CandidateID(manifest: Array("stable".utf8))
  private let candidate = CandidateID(manifest: Array("candidate".utf8))
  private var random: SeededNumbers
  private var queue = EventQueue<Event>()
  private var now: VirtualTime = 0
  private var nodes: [SimulatedNode] = []
  private var result: SimulationResult

  // The store.
  private var keys: ControlKeys
  private var status: RolloutStatus
  private var stageStart: VirtualTime = 0
  /// How often a node came or went since the candidate was published.
  private var moves = 0
  private var exposed: Set<Int> = []
  private var running = 0
  private var haltedAt: VirtualTime?
  private var decidedAt: VirtualTime?

  private init(_ settings: SimulationSettings) {
    self.settings = settings
    random = SeededNumbers(seed: settings.seed)
    keys = ControlKeys(stable: stable, plan: settings.plan)
    status = RolloutStatus(candidate)
    result = SimulationResult(settings: settings)
    for index in 0..<settings.nodes {
      let name = "node-\(index)"
      let isSlow = random.share() < settings.faults.slowShare
      let factor: VirtualTime = isSlow ? 10 : 1
      nodes.append(
        SimulatedNode(
          name: name, rank: NodeRank(name, for: candidate), rule: RolloutRule(node: name, stable: stable), keys: keys,
          latency: factor * random.time(.milliseconds(0.5) ... .milliseconds(5)),
          trialTime: factor * random.time(.milliseconds(500) ... .seconds(3)),
          clockStart: random.time(0 ... .seconds(10_000)),
          clockRate: 1 + settings.faults.clockDrift * (2 * random.share() - 1)))
    }
    status = RolloutStatus(candidate, reports: Dictionary(uniqueKeysWithValues: nodes.map { ($0.rank, $0.report) }))
  }

  /// Runs a simulation to its end.
  package static func run(_ settings: SimulationSettings) -> SimulationResult {
    var simulation = FleetSimulation(settings)
    simulation.run()
    return simulation.result
  }

  // MARK: The run

  private mutating func run() {
    queue.add(.publish, at: 0)
    queue.add(.publishRival, at: random.time(.milliseconds(1) ... .seconds(600)))
    queue.add(.keepAlives, at: .seconds(1))
    scheduleFaults()
    let limit = VirtualTime(settings.limit)
    while let (time, event) = queue.next(), time <= limit, result.violations.isEmpty {
      now = time
      result.events += 1
      take(event)
      if isOver() { break }
    }
    result.exposed = exposed.count
    result.load.close()
  }

  private mutating func scheduleFaults() {
    let faults = settings.faults
    if faults.crashesPerHour > 0 {
      queue.add(.machineFault, at: now + wait(perHour: faults.crashesPerHour * Double(settings.nodes)))
    }
    if faults.partitionsPerHour > 0 { queue.add(.partition, at: now + wait(perHour: faults.partitionsPerHour)) }
  }

  /// The time to the next of events that happen so often.
  private mutating func wait(perHour rate: Double) -> VirtualTime { random.exponential(mean: 3600 / rate) }

  private mutating func take(_ event: Event) {
    switch event {
    case .publish:
      keys.candidate = candidate
      keys.stage = RolloutStage(1, of: settings.plan, status)
      stageStart = now
      keysChanged()
    case .publishRival:
      // The store refuses it while a candidate is there (`fleet.14`).
      if keys.candidate == nil, decidedAt == nil { violation("a second candidate was accepted beside the first") }
    case .keysChanged(let node): learn(node)
    case .tick(let node, let process): tick(node, process)
    case .transaction(let node, let process, let action, let seen): apply(action, seen, of: node, process)
    case .trialEnded(let node, let process): trialEnded(node, process)
    case .crash(let node, let process): crash(node, process)
    case .machineFault:
      let node = Int.random(in: nodes.indices, using: &random)
      crash(node, nodes[node].process)
      queue.add(.machineFault, at: now + wait(perHour: settings.faults.crashesPerHour * Double(settings.nodes)))
    case .restart(let node): restart(node)
    case .leaseEnded(let node, let lease): leaseEnded(node, lease)
    case .partition: cutOff()
    case .healed(let cut): for node in cut { heal(node) }
    case .keepAlives:
      let alive = nodes.count { $0.isRunning && !$0.isCutOff }
      result.load.note(at: now) { $0.keepAlives += alive / 5 }
      queue.add(.keepAlives, at: now + .seconds(1))
    }
  }

  /// Whether there is nothing left to see. Notes when the last node followed.
  private mutating func isOver() -> Bool {
    guard let decidedAt else { return false }
    if let haltedAt {
      if result.followed == nil, running == 0 || settings.plan.haltEffect == .stay { result.followed = now.inSeconds }
      guard result.followed != nil, now >= haltedAt + VirtualTime(settings.afterHalt) else { return false }
      result.ending = .halted
      return true
    }
    guard now >= decidedAt, nodes.allSatisfy({ !$0.isRunning || $0.isCutOff || $0.runsCandidate }) else { return false }
    result.followed = now.inSeconds
    result.ending = .stable
    return true
  }

  private mutating func violation(_ text: String) { result.violations.append("after \(now.inSeconds) s: \(text)") }

  // MARK: Nodes

  private func canReachStore(_ node: Int) -> Bool { nodes[node].isRunning && !nodes[node].isCutOff }

  /// A node learns the control keys, and applies the rule.
  private mutating func learn(_ node: Int) {
    guard canReachStore(node) else { return }
    nodes[node].keys = keys
    decide(node)
    if nodes[node].rule.observes(keys), !nodes[node].ticks {
      nodes[node].ticks = true
      queue.add(.tick(node: node, process: nodes[node].process), at: now + random.time(1 ... .seconds(1)))
    }
  }

  private mutating func tick(_ node: Int, _ process: Int) {
    guard nodes[node].process == process else { return }
    guard nodes[node].isRunning, nodes[node].rule.observes(nodes[node].keys) else {
      nodes[node].ticks = false
      return
    }
    decide(node)
    queue.add(.tick(node: node, process: process), at: now + VirtualTime(1_000_000 / nodes[node].clockRate))
  }

  private mutating func decide(_ node: Int) {
    let known = nodes[node].keys
    let reads = !nodes[node].isCutOff && nodes[node].rule.observes(known)
    if reads {
      let count = status.count
      result.load.note(at: now) { second in
        second.reads += 1
        second.keysRead += count
      }
    }
    let mark = status.mark(of: nodes[node].name)
    for action in nodes[node].rule.actions(known, mark: mark, reads ? status : nil, at: nodes[node].clock(at: now)) {
      if case .serveStable = action {
        serveStable(node)
      } else {
        queue.add(
          .transaction(node: node, process: nodes[node].process, action, known), at: now + nodes[node].latency)
      }
    }
  }

  private mutating func serveStable(_ node: Int) {
    if nodes[node].keys.stable == candidate {
      setRunning(node, true)
      report(NodeReport(.serving), of: node)
    } else {
      setRunning(node, false)
      report(NodeReport(.reverted, of: candidate), of: node)
    }
    queue.add(.keysChanged(node: node), at: now + nodes[node].latency)
  }

  private mutating func setRunning(_ node: Int, _ runs: Bool) {
    if nodes[node].runsCandidate != runs { running += runs ? 1 : -1 }
    nodes[node].runsCandidate = runs
    if runs { exposed.insert(node) }
    result.exposedAtOnce = max(result.exposedAtOnce, running)
  }

  /// Says something under `nodes/`, at once or when the store can be reached again.
  private mutating func report(_ report: NodeReport, of node: Int) {
    nodes[node].report = report
    guard canReachStore(node), nodes[node].hasLease else { return }
    result.load.note(at: now) { $0.transactions += 1 }
    status.note(report, of: nodes[node].rank)
  }

  private mutating func mark(_ mark: TrialMark, of node: Int) {
    guard canReachStore(node) else {
      nodes[node].unsentMark = mark
      return
    }
    nodes[node].unsentMark = nil
    result.load.note(at: now) { $0.transactions += 1 }
    status.note(mark, of: nodes[node].rank)
  }

  private mutating func trialEnded(_ node: Int, _ process: Int) {
    guard nodes[node].process == process, nodes[node].isRunning, nodes[node].rule.holds(candidate) else { return }
    switch settings.plugin {
    case .crashes: crash(node, process)
    case .refused:
      nodes[node].rule.trialEnded(candidate, serves: false)
      setRunning(node, false)
      report(NodeReport(.rolledBack, of: candidate), of: node)
      mark(.failed("the trial failed"), of: node)
    case .good, .crashesLater:
      nodes[node].rule.trialEnded(candidate, serves: true)
      report(NodeReport(.serving, of: candidate), of: node)
      mark(.serving(ends: nodes[node].ends), of: node)
      if settings.plugin == .crashesLater {
        queue.add(.crash(node: node, process: process), at: now + random.exponential(mean: 120))
      }
    }
    queue.add(.keysChanged(node: node), at: now + nodes[node].latency)
  }

  // MARK: Faults

  private mutating func crash(_ node: Int, _ process: Int) {
    guard nodes[node].process == process, nodes[node].isRunning else { return }
    result.processesEnded += 1
    setRunning(node, false)
    nodes[node].isRunning = false
    nodes[node].process += 1
    nodes[node].ticks = false
    nodes[node].unsentMark = nil
    if nodes[node].hasLease { queue.add(.leaseEnded(node: node, lease: nodes[node].lease), at: now + Self.leaseTime) }
    queue.add(.restart(node: node), at: now + Self.restartTime)
  }

  /// A new process takes part when the lease of the old one is gone.
  private mutating func restart(_ node: Int) {
    guard !nodes[node].hasLease, !nodes[node].isCutOff else {
      queue.add(.restart(node: node), at: now + .seconds(1))
      return
    }
    nodes[node].isRunning = true
    nodes[node].rule = RolloutRule(node: nodes[node].name, stable: keys.stable)
    setRunning(node, keys.stable == candidate)
    nodes[node].report = NodeReport(.serving)
    join(node)
    learn(node)
  }

  private mutating func leaseEnded(_ node: Int, _ lease: Int) {
    guard nodes[node].hasLease, nodes[node].lease == lease else { return }
    nodes[node].hasLease = false
    moves += 1
    status.note(nil as NodeReport?, of: nodes[node].rank)
  }

  private mutating func join(_ node: Int) {
    nodes[node].hasLease = true
    nodes[node].lease += 1
    moves += 1
    result.load.note(at: now) { $0.transactions += 1 }
    status.note(nodes[node].report, of: nodes[node].rank)
  }

  private mutating func cutOff() {
    queue.add(.partition, at: now + wait(perHour: settings.faults.partitionsPerHour))
    var cut: [Int] = []
    for node in nodes.indices where !nodes[node].isCutOff && random.share() < settings.faults.partitionShare {
      nodes[node].isCutOff = true
      cut.append(node)
      if nodes[node].hasLease, nodes[node].isRunning {
        queue.add(.leaseEnded(node: node, lease: nodes[node].lease), at: now + Self.leaseTime)
      }
    }
    queue.add(.healed(cut), at: now + random.time(.seconds(10) ... .seconds(60)))
  }

  private mutating func heal(_ node: Int) {
    nodes[node].isCutOff = false
    guard nodes[node].isRunning else { return }
    if nodes[node].hasLease {
      // Renewed in time: the end of the lease that was counted from the cut does not happen.
      nodes[node].lease += 1
      report(nodes[node].report, of: node)
    } else {
      join(node)
    }
    if let unsent = nodes[node].unsentMark { mark(unsent, of: node) }
    learn(node)
  }

  // MARK: The store

  /// Applies a transaction, if what the node has seen is still so.
  private mutating func apply(_ action: RolloutAction, _ seen: ControlKeys, of node: Int, _ process: Int) {
    guard nodes[node].process == process, canReachStore(node) else {
      if nodes[node].process == process { lose(action, node) }
      return
    }
    result.load.note(at: now) { $0.transactions += 1 }
    guard keys == seen, keys.candidate != nil else {
      result.transactionsLost += 1
      return lose(action, node)
    }
    switch action {
    case .take(_, let ends): begin(node, ends)
    case .serveStable: break
    case .noteFailure(let name, let reason):
      guard let mark = status.mark(of: name), !mark.isFailure else { return }
      status.note(.failed(reason), of: NodeRank(name, for: candidate))
    case .halt:
      keys.isHalted = true
      haltedAt = now
      decidedAt = now
      result.decided = now.inSeconds
      keysChanged()
    case .begin(let stage):
      if stage.number != keys.stage?.number {
        requireHold("a stage")
        stageStart = now
      } else {
        moves += keys.plan.share(ofStage: stage.number).nodes(of: settings.nodes)
      }
      keys.stage = stage
      keysChanged()
    case .promote:
      requireHold("the last stage")
      keys.stable = candidate
      keys.candidate = nil
      decidedAt = now
      result.decided = now.inSeconds
      keysChanged()
    }
  }

  /// Notifies a node that its transaction did not succeed.
  private mutating func lose(_ action: RolloutAction, _ node: Int) {
    if case .take(let candidate, _) = action { nodes[node].rule.trialEnded(candidate, serves: false) }
  }

  private mutating func begin(_ node: Int, _ ends: Int) {
    if keys.isHalted { violation("\(nodes[node].name) took the candidate after the halt") }
    nodes[node].ends = ends
    status.note(.trying(ends: ends), of: nodes[node].rank)
    setRunning(node, true)
    report(NodeReport(.trial, of: candidate), of: node)
    queue.add(.trialEnded(node: node, process: nodes[node].process), at: now + nodes[node].trialTime)
    let stage = keys.stage?.number ?? 0
    let size = keys.plan.share(ofStage: stage).nodes(of: settings.nodes)
    // Nodes that were away when the stage began may belong to it too.
    if running > size + moves { violation("\(running) nodes have the candidate, and stage \(stage) has \(size)") }
  }

  private mutating func requireHold(_ stage: String) {
    let least = Double(VirtualTime(settings.plan.hold)) * (1 - 2 * settings.faults.clockDrift)
    if Double(now - stageStart) < least { violation("\(stage) ended after \((now - stageStart).inSeconds) s") }
    if keys.isHalted { violation("\(stage) ended after the halt") }
  }

  /// Notifies the watching nodes.
  private mutating func keysChanged() {
    for node in nodes.indices where canReachStore(node) {
      queue.add(.keysChanged(node: node), at: now + nodes[node].latency)
    }
    let watching = nodes.count { $0.isRunning && !$0.isCutOff }
    result.load.note(at: now) { $0.events += watching }
  }
}
