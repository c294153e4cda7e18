/// The transactions of `carabiner fleet` and of nodes (`fleet.14`), as values. The caller makes them.
extension FleetState {
  /// The most keys that one transaction removes one by one. etcd permits 128 steps.
  private static let maximumRemovals = 100

  /// The effect of a push.
  package enum Push: Sendable, Hashable {
    /// There was no stable manifest, so this one is.
    case first
    /// It is the candidate, and begins with this stage.
    case candidate(RolloutStage)
    /// It is the stable manifest already; only its signed statement is new.
    case renewal
    /// It is the stable manifest already.
    case nothing
  }

  /// Checks that nothing has changed since a revision.
  ///
  /// - Parameter names: The names of the keys that existed at that revision.
  /// - Throws: ``FleetError`` with code `conflict`, with both revisions.
  package func requireUnchanged(since shown: Int64, with names: Set<String>) throws(FleetError) {
    let controls: [FleetKey] =
      [.stable, .stableRelease, .candidate, .candidateRelease] + (candidate.map { [.stage($0.id), .halt($0.id)] } ?? [])
    let changes = controls.map { (key: $0, revision: revision(of: $0)) }
    if let last = changes.max(by: { $0.revision < $1.revision }), last.revision > shown {
      throw FleetError(
        .conflict,
        "nothing was changed: the fleet was shown at revision \(shown), and \(keys.name(last.key)) was changed at revision "
          + "\(last.revision); look at carabiner fleet status, then repeat the command with its revision")
    }
    let removed = names.sorted().filter { name in
      switch keys.key(named: name) {
      case .stable, .stableRelease, .candidate, .candidateRelease, .stage, .halt: !exists(name)
      case .revoked, .revokedRelease, .taken, .node, nil: false
      }
    }
    if let name = removed.first {
      throw FleetError(
        .conflict,
        "nothing was changed: the fleet was shown at revision \(shown), and \(name) was removed by revision \(revision); look at "
          + "carabiner fleet status, then repeat the command with its revision")
    }
  }

  /// Publishes a manifest.
  ///
  /// - Parameter isReplacing: Whether another candidate is given up for it.
  /// - Throws: ``FleetError`` with code `refused` if there is a candidate.
  package func push(
    _ manifest: FleetManifest, _ plan: RolloutPlan, isReplacing: Bool
  ) throws(FleetError) -> (effect: Push, change: FleetChange) {
    if let candidate, !isReplacing {
      let isSame = candidate.id == manifest.id
      let which = isSame ? "this manifest is the candidate already" : "another candidate is there, \(candidate.id)"
      throw FleetError(
        .refused, "\(which); wait for its end, end it with carabiner fleet abort or promote, or replace it with --replace")
    }
    var change = FleetChange(on: self, unchanged: [.stable, .candidate])
    guard let stable else {
      change.steps += put(manifest, .stable, .stableRelease)
      if let candidate { change.steps += endOfRollout(candidate.id) }
      return (.first, change)
    }
    if stable.id == manifest.id {
      guard candidate == nil else {
        throw FleetError(
          .refused, "this manifest is the stable one; to give up the candidate and return to it, run carabiner fleet abort")
      }
      // A signature that is there stays, also if the file has none.
      guard let release = manifest.release, release != stable.release else { return (.nothing, change) }
      change = FleetChange(on: self, unchanged: [.stable, .stableRelease, .candidate])
      change.steps.append(.put(keys.name(.stableRelease), release))
      return (.renewal, change)
    }
    if let candidate, candidate.id != manifest.id { change.steps += endOfTrials(candidate.id, withStage: true) }
    let stage = RolloutStage(1, of: plan, status(of: manifest.id))
    change.steps += put(manifest, .candidate, .candidateRelease)
    change.steps += endOfTrials(manifest.id, withStage: false)
    change.steps.append(.put(keys.name(.stage(manifest.id)), stage.bytes))
    return (.candidate(stage), change)
  }

  /// Halts the candidate; nil if it is halted already.
  package func halted(_ halt: RolloutHalt) throws(FleetError) -> FleetChange? {
    let candidate = try requiredCandidate("halt")
    guard self.halt == nil else { return nil }
    var change = FleetChange(on: self, unchanged: [.candidate, .halt(candidate.id)])
    change.steps = [.put(keys.name(.halt(candidate.id)), halt.bytes)]
    return change
  }

  /// Removes the halt, and the notes of nodes that do not hold the candidate, so that these may try it again.
  ///
  /// - Returns: The transactions, in this order. The last one removes the halt, so no node acts before it.
  package func resumed() throws(FleetError) -> [FleetChange] {
    let candidate = try requiredCandidate("resume")
    guard halt != nil else {
      throw FleetError(.refused, "the candidate \(candidate.id) is not halted; carabiner fleet status shows its stage")
    }
    let ended = marks.filter { name, mark in mark.isFailure || !isHeld(candidate.id, by: name) }
    var removals = ended.keys.sorted().map { FleetChange.Step.delete(keys.name(.taken(candidate.id, by: $0))) }
    var changes: [FleetChange] = []
    let start = FleetChange(on: self, unchanged: [.candidate, .halt(candidate.id)])
    while removals.count > Self.maximumRemovals {
      var change = start
      change.steps = Array(removals.prefix(Self.maximumRemovals))
      removals.removeFirst(Self.maximumRemovals)
      changes.append(change)
    }
    var last = start
    last.steps = removals + [.delete(keys.name(.halt(candidate.id)))]
    return changes + [last]
  }

  /// Makes the candidate the stable manifest.
  ///
  /// The condition on the stage is for nodes, which promote at the end of the last one. An operator may promote at any stage.
  package func promoted() throws(FleetError) -> FleetChange {
    let candidate = try requiredCandidate("promote")
    guard halt == nil else {
      throw FleetError(
        .refused, "the candidate \(candidate.id) is halted; run carabiner fleet resume before it, or carabiner fleet abort")
    }
    var change = FleetChange(
      on: self, unchanged: [.stable, .candidate, .candidateRelease, .stage(candidate.id), .halt(candidate.id)])
    change.steps = put(candidate, .stable, .stableRelease) + endOfRollout(candidate.id)
    return change
  }

  /// Gives up the candidate. Its nodes return to the stable manifest.
  package func aborted() throws(FleetError) -> FleetChange {
    let candidate = try requiredCandidate("abort")
    var change = FleetChange(on: self, unchanged: [.candidate])
    change.steps = endOfRollout(candidate.id)
    return change
  }

  /// Replaces the list of revocations.
  ///
  /// - Returns: Nil if it is published already, with the same statement.
  package func revoked(by list: FleetRevocations) -> FleetChange? {
    guard list != revocations else { return nil }
    var change = FleetChange(on: self, unchanged: [.revoked, .revokedRelease])
    change.steps = put(list.bytes, list.release, .revoked, .revokedRelease)
    return change
  }

  // MARK: Nodes

  /// Writes the note of a node about the candidate.
  ///
  /// A node that begins its trial needs the stage as it was read, and no halt. The result of a trial is noted also after a halt.
  package func marked(_ mark: TrialMark, by name: NodeName) throws(FleetError) -> FleetChange {
    let id = try requiredCandidate("try").id
    var unchanged: [FleetKey] = [.candidate, .taken(id, by: name)]
    if case .trying = mark { unchanged += [.stage(id), .halt(id)] }
    var change = FleetChange(on: self, unchanged: unchanged)
    change.steps = [.put(keys.name(.taken(id, by: name)), mark.bytes)]
    return change
  }

  /// Begins a stage of the roll-out.
  package func began(_ stage: RolloutStage) throws(FleetError) -> FleetChange {
    let id = try requiredCandidate("roll out").id
    var change = FleetChange(on: self, unchanged: [.candidate, .stage(id), .halt(id)])
    change.steps = [.put(keys.name(.stage(id)), stage.bytes)]
    return change
  }

  // MARK: Parts

  private func requiredCandidate(_ verb: String) throws(FleetError) -> FleetManifest {
    guard let candidate else {
      throw FleetError(.refused, "there is no candidate to \(verb); publish one with carabiner fleet push")
    }
    return candidate
  }

  /// Whether a living node tries or serves a candidate.
  private func isHeld(_ id: CandidateID, by name: NodeName) -> Bool {
    guard let record = nodes[name], record.candidate == id else { return false }
    return record.state == .trial || record.state == .serving
  }

  private func put(_ manifest: FleetManifest, _ key: FleetKey, _ releaseKey: FleetKey) -> [FleetChange.Step] {
    put(manifest.bytes, manifest.release, key, releaseKey)
  }

  /// Writes a file and its statement, or removes the statement that is there.
  private func put(
    _ bytes: [UInt8], _ release: [UInt8]?, _ key: FleetKey, _ releaseKey: FleetKey
  ) -> [FleetChange.Step] {
    [
      .put(keys.name(key), bytes), release.map { .put(keys.name(releaseKey), $0) } ?? .delete(keys.name(releaseKey)),
    ]
  }

  private func endOfTrials(_ id: CandidateID, withStage: Bool) -> [FleetChange.Step] {
    (withStage ? [.delete(keys.name(.stage(id)))] : [])
      + [.delete(keys.name(.halt(id))), .deleteAll(prefix: keys.marks(of: id))]
  }

  private func endOfRollout(_ id: CandidateID) -> [FleetChange.Step] {
    [.delete(keys.name(.candidate)), .delete(keys.name(.candidateRelease))] + endOfTrials(id, withStage: true)
  }
}
