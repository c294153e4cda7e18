internal import CarabinerEtcd
internal import CarabinerFleet
internal import CarabinerManifest
internal import FoundationEssentials
internal import Logging

/// The part of a node in the roll-outs of its fleet: applies the rule to the keys, makes the transactions of its actions, and decides which
/// manifest the node serves (`fleet.13`).
///
/// It is used by one task at a time. Its methods never fail: what cannot be done now is due again a moment later.
struct FleetParticipant: Sendable {
  /// The last state of this node that is about the candidate.
  private struct Trial: Sendable {
    var state: NodeReport.State
    let candidate: CandidateID
    var reason: String?
  }

  /// The note of a node that does not know its note. It does not take a candidate that it may have failed with before.
  private static let unknownMark = TrialMark.failed("")

  private let store: FleetStore
  private let name: NodeName
  private let version: String
  private let logger: Logger
  private let presence: NodePresence
  private let start = ContinuousClock.now

  // The keys.
  private var control: [FleetState.Entry] = []
  private var state: FleetState
  /// The plan of the candidate.
  private var plan: (candidate: CandidateID, plan: RolloutPlan)?
  /// The reports and notes of all nodes, as this one has read them last, and the candidate that the notes are about.
  private var reports: (candidate: CandidateID, view: EtcdView)?
  /// The note about the candidate that this node wrote last. The next note replaces only this one.
  private var ownMark: FleetState.Entry?
  /// A note that is not written yet, because etcd was away.
  private var unsentMark: (candidate: CandidateID, mark: TrialMark)?
  /// The candidate whose trial this process has noted without an answer of etcd.
  private var uncertainTrial: CandidateID?

  // The rule, and what the host does.
  private var rule: RolloutRule?
  /// How often a process of this node ended while it served the candidate.
  private var ends = 0
  private var result: Trial?
  /// The candidate that this node goes back from.
  private var reverting: CandidateID?
  /// The manifest that the host serves, and the number of its generation.
  private var serving: (id: CandidateID, generation: UInt64)?
  /// The manifest that was last refused, and its reason.
  private var refused: (id: CandidateID, reason: String)?
  /// Whether the host may have a candidate on trial.
  private var isTrying = false
  /// The last record and the time at which its state began.
  private var record: NodeRecord?
  /// The kinds of errors that were logged about this candidate.
  private var logged: Set<String> = []

  /// Whether ``decide()`` is due again in a second.
  private(set) var isDue = false
  /// The number of nodes by state; nil if this node does not read the reports of the others at the moment.
  private(set) var counts: [NodeReport.State: Int]?

  init(_ store: FleetStore, _ name: NodeName, version: String, _ presence: NodePresence, _ logger: Logger) {
    self.store = store
    self.name = name
    self.version = version
    self.presence = presence
    self.logger = logger
    state = FleetState(store.keys, [], at: 0)
  }

  // MARK: Reports

  /// The manifest that the node is to serve; an error if the stable one is missing or too long.
  var published: Result<PublishedManifest, SourceError> {
    do throws(SourceError) {
      return .success(try manifest())
    } catch {
      return .failure(error)
    }
  }

  private func manifest() throws(SourceError) -> PublishedManifest {
    let key = store.keys.name(.stable)
    guard let stable = state.stable else {
      throw SourceError(.missing, "etcd has no key \(key); publish a manifest with carabiner fleet push")
    }
    if let candidate = state.candidate, candidate.id != stable.id, rule?.holds(candidate.id) == true {
      return PublishedManifest(text: candidate.bytes, sidecar: candidate.release, isCandidate: true)
    }
    guard stable.bytes.count <= Manifest.maximumFileBytes else {
      throw SourceError(
        .malformed, "the manifest in \(key) has more than \(Manifest.maximumFileBytes) bytes; publish a shorter one")
    }
    return PublishedManifest(text: stable.bytes, sidecar: stable.release)
  }

  /// The roll-out for metrics.
  var metrics: FleetMetrics {
    var metrics = FleetMetrics(node: name)
    metrics.state = record?.state
    metrics.isRegistered = presence.standing == .registered
    metrics.candidate = state.candidate?.id
    metrics.stage = state.candidate == nil ? 0 : state.stage?.number ?? 0
    metrics.isHalted = state.halt != nil
    metrics.nodes = counts
    return metrics
  }

  // MARK: News

  /// Takes the control keys as they are now.
  mutating func take(_ view: EtcdView) async {
    let before = state.candidate?.id
    control = view.entries
    state = FleetState(store.keys, control, at: view.revision)
    if state.candidate?.id != before {
      reports = nil
      ownMark = nil
      unsentMark = nil
      uncertainTrial = nil
      presence.note(mark: nil)
      ends = 0
      logged = []
    }
    if let candidate = state.candidate, plan?.candidate != candidate.id {
      // A manifest that cannot be read is refused in its first trial.
      let manifest = try? Manifest(bytes: candidate.bytes, path: store.keys.name(.candidate), directory: nil)
      plan = (candidate.id, manifest?.fleet ?? .standard)
    }
    await decide()
  }

  /// Takes the outcome of a manifest in the host.
  mutating func take(_ outcome: ManifestOutcome, of id: CandidateID) async {
    let holds = rule?.holds(id) == true
    switch outcome {
    case .serves(let generation):
      serving = (id, generation)
      refused = nil
      isTrying = false
      if holds, result?.state == .trial {
        result?.state = .serving
        rule?.trialEnded(id, serves: true)
        logger.notice("the candidate of the fleet serves on this node", metadata: ["candidate": "\(id)"])
        await send(.serving(ends: ends), about: id)
      }
    case .onTrial: break
    case .refused(let reason): await fail(id, .refused, reason)
    case .rolledBack(let reason): await fail(id, .rolledBack, reason)
    }
    await decide()
  }

  private mutating func fail(_ id: CandidateID, _ state: NodeReport.State, _ reason: String) async {
    // A later reload of what serves may be refused too, and changes nothing.
    if serving?.id != id { refused = (id, reason) }
    isTrying = false
    guard rule?.holds(id) == true, result?.state == .trial else { return }
    result = Trial(state: state, candidate: id, reason: reason)
    rule?.trialEnded(id, serves: false)
    presence.note(mark: nil)
    logger.error(
      "the candidate of the fleet failed on this node", metadata: ["candidate": "\(id)", "reason": "\(reason)"])
    await send(.failed(reason), about: id)
  }

  // MARK: The rule

  /// Applies the rule.
  mutating func decide() async {
    isDue = false
    counts = nil
    defer { report() }
    guard let stable = state.stable else { return }
    if rule == nil { rule = RolloutRule(node: "\(name)", stable: stable.id) }
    await sendAgain()
    if reverting != nil || result == nil || result?.candidate != state.candidate?.id {
      guard isSettled(on: stable.id) else { return }
    }
    if let reverting, serving?.id != reverting {
      self.reverting = nil
      if state.candidate?.id == reverting { result = Trial(state: .reverted, candidate: reverting, reason: nil) }
    }
    guard var keys = state.controlKeys(plan?.plan ?? .standard) else { return }
    let standing = presence.standing
    // Two processes with one name would both take the candidate under one note.
    if standing == .foreign { keys.candidate = nil }
    let known = await known(keys, isRegistered: standing == .registered)
    guard var rule else { return }
    let actions = rule.actions(keys, mark: known.mark, known.status, at: .now - start)
    self.rule = rule
    for action in actions { await carryOut(action, known.state) }
  }

  /// Whether the host has done what it could with the stable manifest, and has no candidate on trial.
  private func isSettled(on stable: CandidateID) -> Bool {
    if let candidate = state.candidate?.id, rule?.holds(candidate) == true { return true }
    return !isTrying && (serving?.id == stable || refused?.id == stable)
  }

  /// The state with the notes and reports that the rule needs now.
  private mutating func known(
    _ keys: ControlKeys, isRegistered: Bool
  ) async -> (state: FleetState, mark: TrialMark?, status: RolloutStatus?) {
    guard let candidate = keys.candidate, candidate != keys.stable, keys.stage != nil, !keys.isHalted else {
      return (state, Self.unknownMark, nil)
    }
    let observes = rule?.observes(keys) ?? false
    let holds = rule?.holds(candidate) ?? false
    isDue = observes
    do {
      var entries = control
      if observes {
        let last = reports.flatMap { $0.candidate == candidate ? $0.view : nil }
        let view = try await store.reports(about: candidate, since: last)
        reports = (candidate, view)
        entries += view.entries
      } else if !holds, let mark = try await store.entry(.taken(candidate, by: name)) {
        entries.append(mark)
      }
      let state = FleetState(store.keys, entries, at: self.state.revision)
      var mark = state.marks[name]
      if case .failed(let reason) = mark, result?.candidate != candidate {
        // By an earlier process, or by a node that watched this one.
        result = Trial(state: .rolledBack, candidate: candidate, reason: reason)
      }
      let isOwn = ownMark?.revision == state.revision(of: .taken(candidate, by: name)) || uncertainTrial == candidate
      if isOwn, let own = mark { mark = Self.before(own) }
      if observes { counts = Dictionary(grouping: state.nodes.values, by: \.state).mapValues(\.count) }
      if !isRegistered, !holds {
        isDue = true
        mark = Self.unknownMark
      }
      return (state, mark, observes ? state.status(of: candidate) : nil)
    } catch {
      note(error, "this node cannot read the reports of its fleet")
      isDue = true
      return (state, Self.unknownMark, nil)
    }
  }

  /// The note that a process found before it wrote this one: its own note says nothing about an end.
  private static func before(_ mark: TrialMark) -> TrialMark? {
    switch mark {
    case .trying(let ends), .serving(let ends): ends == 0 ? nil : .serving(ends: ends - 1)
    case .failed: mark
    }
  }

  // MARK: Actions

  private mutating func carryOut(_ action: RolloutAction, _ state: FleetState) async {
    do {
      switch action {
      case .take(let id, let ends): try await takeCandidate(id, ends, state)
      case .serveStable:
        if let result, result.state == .trial || result.state == .serving {
          reverting = result.candidate
          logger.warning(
            "this node goes back to the stable manifest of its fleet", metadata: ["candidate": "\(result.candidate)"])
        }
        result = nil
        // The rule decides about another candidate afterwards.
        isDue = true
      case .noteFailure(let node, let reason):
        guard let node = NodeName(node) else { return }
        try await store.make(try state.marked(.failed(reason), by: node))
        if node == name, let candidate = state.candidate?.id {
          result = Trial(state: .rolledBack, candidate: candidate, reason: reason)
        }
        logger.error(
          "a node failed with the candidate of the fleet", metadata: ["failed": "\(node)", "reason": "\(reason)"])
      case .halt(let failures):
        guard let change = try state.halted(RolloutHalt(by: .node(name), failures: failures)) else { return }
        try await store.make(change)
        logger.critical(
          "the roll-out is halted, because nodes failed; see carabiner fleet status",
          metadata: [
            "candidate": "\(state.candidate?.id.description ?? "")",
            "failed": "\(failures.keys.sorted().joined(separator: ", "))",
          ])
      case .begin(let stage):
        try await store.make(try state.began(stage))
        logger.notice("the next stage of the roll-out begins", metadata: ["stage": "\(stage.number)"])
      case .promote:
        try await store.make(try state.promoted())
        logger.notice(
          "the candidate is the stable manifest of the fleet", metadata: ["candidate": "\(state.candidate?.id.description ?? "")"]
        )
      }
    } catch {
      isDue = true
      note(error, "this node cannot take part in the roll-out of its fleet")
    }
  }

  private mutating func takeCandidate(_ id: CandidateID, _ ends: Int, _ state: FleetState) async throws {
    let mark = TrialMark.trying(ends: ends)
    // Before it is written: this process may end in order before the answer is there.
    presence.note(mark: store.keys.name(.taken(id, by: name)))
    do {
      let revision = try await store.make(try state.marked(mark, by: name))
      ownMark = FleetState.Entry(store.keys.name(.taken(id, by: name)), mark.bytes, at: revision)
    } catch {
      if (error as? EtcdError)?.code == .uncertain { uncertainTrial = id }
      rule?.trialEnded(id, serves: false)
      throw error
    }
    uncertainTrial = nil
    self.ends = ends
    isTrying = true
    result = Trial(state: .trial, candidate: id)
    logger.notice("this node tries the candidate of its fleet", metadata: ["candidate": "\(id)"])
    guard let bytes = state.candidate?.bytes.count, bytes <= Manifest.maximumFileBytes else {
      return await fail(id, .refused, "the manifest has more than \(Manifest.maximumFileBytes) bytes")
    }
  }

  /// Writes the result of a trial.
  private mutating func send(_ mark: TrialMark, about id: CandidateID) async {
    unsentMark = (id, mark)
    await sendAgain()
  }

  private mutating func sendAgain() async {
    guard let (id, mark) = unsentMark else { return }
    // Without it, the roll-out has ended, or another one noted a failure meanwhile.
    guard id == state.candidate?.id, let ownMark else {
      unsentMark = nil
      return
    }
    do {
      let known = FleetState(store.keys, control + [ownMark], at: state.revision)
      let revision = try await store.make(try known.marked(mark, by: name))
      self.ownMark = FleetState.Entry(ownMark.name, mark.bytes, at: revision)
      unsentMark = nil
    } catch is FleetError {
      unsentMark = nil
    } catch {
      isDue = true
      note(error, "this node cannot note the result of its trial")
    }
  }

  // MARK: The report

  /// Sets the report of the node.
  private mutating func report() {
    var next = NodeRecord(
      version: version, state: .starting, serving: serving?.id, generation: Int(clamping: serving?.generation ?? 0), since: 0)
    if let result, result.candidate == state.candidate?.id {
      next.state = result.state
      next.candidate = result.candidate
      next.reason = result.reason
    } else if let refused, refused.id == state.stable?.id {
      next.state = .refused
      next.reason = refused.reason
    } else if serving != nil {
      next.state = .serving
    }
    next.since =
      record.flatMap { $0.state == next.state && $0.candidate == next.candidate ? $0.since : nil }
      ?? Int(Date().timeIntervalSince1970)
    record = next
    presence.set(next)
  }

  /// Logs an error once for each candidate and kind. That etcd is away is logged by the follower of the keys, and a conflict means that
  /// another node was first.
  private mutating func note(_ error: any Error, _ text: Logger.Message) {
    if (error as? FleetError)?.code == .conflict { return }
    if let error = error as? EtcdError, error.code == .unavailable || error.code == .uncertain { return }
    guard !(error is CancellationError), logged.insert("\(text) \((error as? EtcdError)?.code.rawValue ?? "")").inserted else {
      return
    }
    logger.error(text, metadata: ["reason": "\(error)"])
  }
}
