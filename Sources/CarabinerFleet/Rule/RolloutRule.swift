/// The rule by which each node takes part in a roll-out (`fleet.13`). No node leads: all apply the same rule to the same keys, and a
/// transaction decides between nodes that act at once.
///
/// It is a value without input, output or clock, so `Scripts/measure simulation` can run it for thousands of nodes.
package struct RolloutRule: Sendable {
  /// How long a node that tries a candidate may be away before it counts as failed. Its plugin may have killed it.
  package static let patience: Duration = .seconds(30)
  /// How often the process of a node may end while it serves a candidate. An end may have other reasons than the candidate.
  package static let toleratedEnds = 1
  /// The most failures that a halt lists, and that a node notes at once.
  private static let maximumReports = 20
  /// The longest reason in a halt, in characters.
  private static let maximumReason = 200
  /// The approximate number of nodes that read the reports of all nodes. If every node did, the reads would grow with the square of
  /// the fleet.
  package static let observers = 20

  /// The manifest that the node serves.
  private enum Serving: Sendable, Hashable {
    case stable
    case trial(CandidateID)
    case candidate(CandidateID)

    var candidate: CandidateID? {
      switch self {
      case .stable: nil
      case .trial(let id), .candidate(let id): id
      }
    }
  }

  private let name: String
  private var rank: NodeRank
  private var rankCandidate: CandidateID
  private var serving = Serving.stable
  /// The stable manifest that the node serves, or served before the candidate.
  private var stable: CandidateID
  /// Since when the stage is settled.
  private var hold: Period?
  /// Since when all nodes of the stage are gone.
  private var desertion: Period?
  /// Since when nodes that try the candidate are away. It has at most as many members as the fleet has nodes.
  private var absences: [String: Duration] = [:]

  /// The rule of a node that has just started and serves a stable manifest.
  package init(node name: String, stable: CandidateID) {
    self.name = name
    self.stable = stable
    rankCandidate = stable
    rank = NodeRank(name, for: stable)
  }

  /// Whether the node tries or serves this candidate.
  package func holds(_ candidate: CandidateID) -> Bool { serving.candidate == candidate }

  /// Whether this node reads the reports of all nodes, and decides about stages and halts. In a small fleet, every node does.
  package mutating func observes(_ keys: ControlKeys) -> Bool {
    guard let candidate = keys.candidate, let stage = keys.stage else { return false }
    if stage.fleet <= Self.observers { return true }
    // The last nodes in the order. They get the candidate last, so a bad candidate does not end them before they halt it.
    return (UInt64.max - rank(for: candidate).place) / UInt64(Self.observers) <= UInt64.max / UInt64(stage.fleet)
  }

  /// Decides what to do.
  ///
  /// Called when a control key has changed, after ``RolloutAction/serveStable`` was carried out, after ``trialEnded(_:serves:)``, and each
  /// second by an observer while there is a candidate.
  ///
  /// - Parameters:
  ///   - keys: The control keys.
  ///   - mark: What this node has noted about the candidate of `keys`; nil if nothing.
  ///   - status: For an observer, what the nodes say about that candidate, read now; nil if it could not be read.
  ///   - now: The monotonic clock of this node. Clocks of different nodes are never compared.
  package mutating func actions(
    _ keys: ControlKeys, mark: TrialMark?, _ status: RolloutStatus?, at now: Duration
  ) -> [RolloutAction] {
    guard let candidate = keys.candidate, candidate != keys.stable else { return settle(keys) }
    // The candidate was replaced, or has become stable meanwhile.
    if let other = serving.candidate, other != candidate { return settle(keys) }
    if keys.isHalted {
      forget()
      if serving != .stable, keys.plan.haltEffect == .revert { return giveUp(keys) }
      return serving == .stable ? settle(keys) : []
    }
    if serving == .stable, stable != keys.stable { return settle(keys) }
    guard let stage = keys.stage else { return [] }
    var actions = takePart(candidate, stage, mark)
    if let status, status.candidate == candidate, observes(keys) {
      actions += watch(candidate, stage, keys, status, at: now)
    }
    return actions
  }

  /// Takes the result of a trial that ``RolloutAction/take(_:ends:)`` began.
  ///
  /// - Parameter serves: Whether the node serves the candidate now.
  package mutating func trialEnded(_ candidate: CandidateID, serves: Bool) {
    guard serving == .trial(candidate) else { return }
    serving = serves ? .candidate(candidate) : .stable
  }

  // MARK: Parts of the rule

  /// Serves the stable manifest, if the node serves another.
  private mutating func settle(_ keys: ControlKeys) -> [RolloutAction] {
    forget()
    switch serving {
    case .candidate(keys.stable):
      // It became stable; nothing changes for this node.
      serving = .stable
      stable = keys.stable
      return []
    case .trial(keys.stable):
      // The trial of what is stable by now goes on.
      return []
    case .stable where stable == keys.stable: return []
    case .stable, .trial, .candidate: return giveUp(keys)
    }
  }

  /// The rank of this node for a candidate, which is the same until the next candidate.
  private mutating func rank(for candidate: CandidateID) -> NodeRank {
    if rankCandidate != candidate {
      rankCandidate = candidate
      rank = NodeRank(name, for: candidate)
    }
    return rank
  }

  private mutating func forget() {
    hold = nil
    desertion = nil
    absences = [:]
  }

  private mutating func giveUp(_ keys: ControlKeys) -> [RolloutAction] {
    serving = .stable
    stable = keys.stable
    return [.serveStable]
  }

  /// Takes the candidate if it is this node's turn.
  private mutating func takePart(_ candidate: CandidateID, _ stage: RolloutStage, _ mark: TrialMark?) -> [RolloutAction] {
    guard serving == .stable else { return [] }
    var ends = 0
    switch mark {
    case nil: break
    case .failed: return []
    case .trying:
      // Left by a process that died in its trial.
      return [.noteFailure(of: name, reason: "its process ended during the trial")]
    case .serving(let before):
      ends = before + 1
      if ends > Self.toleratedEnds {
        return [.noteFailure(of: name, reason: "its process ended \(ends) times while it served the candidate")]
      }
    }
    guard stage.includes(rank(for: candidate)) else { return [] }
    serving = .trial(candidate)
    return [.take(candidate, ends: ends)]
  }

  /// Decides about stages and halts, as an observer.
  private mutating func watch(
    _ candidate: CandidateID, _ stage: RolloutStage, _ keys: ControlKeys, _ status: RolloutStatus, at now: Duration
  ) -> [RolloutAction] {
    var actions = absent(status, at: now)
    if status.failures.count >= keys.plan.failuresToHalt {
      let some = status.failures.sorted { $0.key < $1.key }.prefix(Self.maximumReports)
      actions.append(.halt(Dictionary(uniqueKeysWithValues: some.map { ($0.key, String($0.value.prefix(Self.maximumReason))) })))
    } else if isDeserted(candidate, stage, status, at: now) {
      actions.append(.begin(RolloutStage(stage.number, of: keys.plan, status)))
    } else if stage.fleet > Self.observers, status.count * 2 < stage.fleet {
      // The observers are a share of the fleet as it was, and there may be too few of them.
      actions.append(.begin(RolloutStage(stage.number, end: stage.end, fleet: status.count)))
    } else if let held = hold.note(status.isSettled(stage), of: candidate, stage, at: now), held >= keys.plan.hold {
      if stage.number < keys.plan.stages.count {
        actions.append(.begin(RolloutStage(stage.number + 1, of: keys.plan, status)))
      } else if keys.plan.promoter == .nodes {
        actions.append(.promote)
      }
    }
    return actions
  }

  /// The nodes that try the candidate and have been away for too long.
  private mutating func absent(_ status: RolloutStatus, at now: Duration) -> [RolloutAction] {
    if status.orphans.isEmpty {
      if !absences.isEmpty { absences = [:] }
      return []
    }
    absences = absences.filter { status.orphans.contains($0.key) }
    return status.orphans.sorted().compactMap { node in
      let start = absences[node] ?? now
      absences[node] = start
      guard now - start >= Self.patience else { return nil }
      return .noteFailure(of: node, reason: "it began its trial and has been away for \(Self.patience.components.seconds) s")
    }.prefix(Self.maximumReports).map(\.self)
  }

  /// Whether all nodes of a stage have been gone for long enough, and none of them in its trial. Others take their place.
  private mutating func isDeserted(
    _ candidate: CandidateID, _ stage: RolloutStage, _ status: RolloutStatus, at now: Duration
  ) -> Bool {
    let isEmpty = status.count(in: stage) == 0 && status.count > 0 && status.orphans.isEmpty
    return desertion.note(isEmpty, of: candidate, stage, at: now).map { $0 >= Self.patience } ?? false
  }
}

/// A time in which a property of a stage has held.
private struct Period: Sendable {
  let candidate: CandidateID
  let stage: Int
  let start: Duration
}

extension Period? {
  /// Notes whether the property holds now.
  ///
  /// - Returns: How long it has held for this stage of this candidate; nil if it does not hold.
  fileprivate mutating func note(
    _ holds: Bool, of candidate: CandidateID, _ stage: RolloutStage, at now: Duration
  ) -> Duration? {
    guard holds else {
      self = nil
      return nil
    }
    if let self, self.candidate == candidate, self.stage == stage.number { return now - self.start }
    self = Period(candidate: candidate, stage: stage.number, start: now)
    return .zero
  }
}
