internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerRelease
internal import CarabinerSources
internal import Dispatch
internal import Foundation
internal import Logging
internal import Synchronization

/// Creates new generations of a manifest, one at a time, while the current one serves.
final class Reloader: Sendable {
  /// The interval at which a canary is judged.
  private static let judgementInterval = Duration.milliseconds(200)

  private struct Waiting {
    var triggers: [String] = []
    /// Whether one of the requests requires that all plugin instances are recreated.
    var anew = false
    var continuations: [CheckedContinuation<ReloadReport, Never>] = []
  }

  private let live: GenerationManager
  private let source: GenerationSource
  /// The gateways over this host.
  private let followers = Mutex<[any ManifestFollower]>([])
  /// Reads manifests, downloads, and probes plugins, which can take minutes.
  private let loading = DispatchQueue(label: "carabiner.load")
  /// Changes the generations, the overrides and the record of serials.
  private let queue = DispatchQueue(label: "carabiner.reload")
  /// The requests since the last reload began. The next reload serves all of them.
  private let waiting = Mutex(Waiting())
  private let lastNumber = Atomic<UInt64>(1)
  private let isClosed = Atomic<Bool>(false)

  init(_ live: GenerationManager, _ source: GenerationSource) {
    self.live = live
    self.source = source
  }

  /// Registers a gateway, whose settings change with each generation that takes over.
  func add(_ follower: any ManifestFollower) { followers.withLock { $0.append(follower) } }

  func remove(_ follower: any ManifestFollower) { followers.withLock { $0.removeAll { $0 === follower } } }

  /// Refuses further reloads, because the gateway shuts down.
  func close() { isClosed.store(true, ordering: .relaxed) }

  /// Reads the manifest again, and makes the new generation the current one if it is valid.
  ///
  /// - Parameters:
  ///   - anew: Whether all plugin instances are recreated, including those without changes.
  ///   - asksSource: Whether a web server is asked for the manifest now.
  func reload(trigger: String, anew: Bool = false, asksSource: Bool = true) async -> ReloadReport {
    if asksSource { await source.origin.remote?.refresh() }
    return await withCheckedContinuation { continuation in
      let isFirst = waiting.withLock { waiting in
        waiting.continuations.append(continuation)
        waiting.triggers.append(trigger)
        waiting.anew = waiting.anew || anew
        return waiting.continuations.count == 1
      }
      if isFirst { loading.async { [self] in serveWaiting() } }
    }
  }

  private func serveWaiting() {
    let group = waiting.withLock { waiting in
      defer { waiting = Waiting() }
      return waiting
    }
    let start = ContinuousClock.now
    let loaded = load()
    // The queue is used only now, because overrides and the end of a trial must not wait for a server that answers slowly.
    let report = queue.sync {
      live.change {
        let report = reload(loaded.result, group.triggers, anew: group.anew, since: start)
        note(report)
        notifySource(report.outcome, of: loaded.published, live.current)
        return report
      }
    }
    for continuation in group.continuations { continuation.resume(returning: report) }
  }

  private func note(_ report: ReloadReport) {
    live.note(report)
    // Logged at every log level: a signal has no other response.
    var logger = live.output.logger
    logger.logLevel = min(logger.logLevel, .notice)
    logger.log(
      level: report.isAccepted ? .notice : .error, "reload: \(live.output.redacted(report.text))",
      metadata: ["trigger": "\(report.trigger)", "generation": "\(report.generation)"])
  }

  /// Reports the outcome of a manifest to its source.
  ///
  /// - Parameters:
  ///   - published: Nil if it is from a file, or was not read.
  ///   - generation: The generation that serves.
  func notifySource(_ outcome: ReloadReport.Outcome, of published: PublishedManifest?, _ generation: Generation) {
    guard let published, let remote = source.origin.remote else { return }
    let result: ManifestOutcome =
      switch outcome {
      case .accepted, .promoted: .serves(generation: generation.number)
      case .onTrial: .onTrial
      case .rolledBack(let reason): .rolledBack(live.output.redacted(reason))
      case .refused(let problems): .refused(live.output.redacted(problems.joined(separator: "\n")))
      }
    remote.note(result, of: published)
  }

  /// Stores the current generation as the last known good one, if its source has confirmed the manifest by now.
  func keepConfirmed() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      queue.async { [self] in
        if live.current.published != nil { keep(live.current) }
        continuation.resume()
      }
    }
  }

  /// Stores a serving generation as the last known good one. A failure is logged, and the generation serves nevertheless.
  ///
  /// The candidate of a roll-out is not kept: the node goes back to the stable manifest, whose serial may be lower.
  func keep(_ generation: Generation) {
    if let published = generation.published, source.origin.remote?.isConfirmed(published) == false { return }
    do {
      try source.keep(generation)
    } catch {
      live.output.logger.error("the last known good manifest is not kept", metadata: ["reason": "\(error)"])
    }
  }

  /// Removes the highest recorded serial of a file, so that an older file is accepted.
  ///
  /// - Returns: Whether there was one.
  func resetSerial(of subject: ReleaseSubject) async throws -> Bool {
    // The record is changed by this queue only.
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Bool, any Error>) in
      queue.async { [self] in continuation.resume(with: Result { try source.resetSerial(of: subject) }) }
    }
  }

  // MARK: Overrides

  /// Switches the plugins that match a pattern on or off, in this generation and its successors, or removes an earlier override.
  ///
  /// - Parameter isEnabled: Nil to remove the override.
  /// - Throws: ``ManifestError`` if no plugin matches or a matching one is mandatory, ``HostError`` if one cannot be loaded.
  func override(_ pattern: String, isEnabled: Bool?, reason: String) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      queue.async { [self] in
        continuation.resume(with: Result { try change(pattern, isEnabled, reason) })
      }
    }
  }

  private func change(_ pattern: String, _ isEnabled: Bool?, _ reason: String) throws {
    for generation in live.serving {
      var overrides = generation.host.chain.overrides
      if let isEnabled {
        overrides.override(pattern, isEnabled: isEnabled, reason: reason)
      } else {
        overrides.removeLive(pattern)
      }
      try generation.host.chain.setOverrides(overrides)
    }
    let what = isEnabled.map { $0 ? "enabled" : "disabled" } ?? "as the manifest says"
    live.output.logger.notice("plugins are \(what)", metadata: ["pattern": "\(pattern)", "reason": "\(reason)"])
  }

  // MARK: Trials

  /// Makes the generation on trial the current one.
  ///
  /// - Returns: Nil if the trial is over already.
  func promote(
    _ trial: GenerationTrial, trigger: String, _ difference: ManifestDifference? = nil
  ) async -> ReloadReport? {
    await withCheckedContinuation { continuation in
      // On the queue of reloads, because binding listeners may block.
      queue.async { [self] in continuation.resume(returning: promoteNow(trial, trigger, difference)) }
    }
  }

  private func promoteNow(
    _ trial: GenerationTrial, _ trigger: String, _ difference: ManifestDifference?
  ) -> ReloadReport? {
    let changes: [any PreparedChange]
    do {
      changes = try prepare(trial.generation.manifest)
    } catch {
      return rollBack(trial, "\(error)", trigger: trigger, difference)
    }
    var isUsed = false
    defer { if !isUsed { for change in changes { change.discard() } } }
    return live.change {
      guard live.trial === trial else { return nil }
      live.swap(to: trial.generation)
      for change in changes { change.commit() }
      isUsed = true
      keep(trial.generation)
      let report = ReloadReport(
        outcome: .promoted, trigger: trigger, generation: live.current.number, difference: difference,
        duration: .now - trial.start)
      note(report)
      notifySource(report.outcome, of: trial.generation.published, trial.generation)
      return report
    }
  }

  /// Ends a trial; the current generation continues to serve.
  ///
  /// - Returns: Nil if the trial is over already.
  func rollBack(
    _ trial: GenerationTrial, _ reason: String, trigger: String, _ difference: ManifestDifference? = nil
  ) -> ReloadReport? {
    live.change {
      guard live.giveUp(trial) else { return nil }
      let report = ReloadReport(
        outcome: .rolledBack(reason), trigger: trigger, generation: live.current.number, difference: difference,
        duration: .now - trial.start)
      note(report)
      notifySource(report.outcome, of: trial.generation.published, live.current)
      return report
    }
  }

  /// Judges a canary at an interval until its trial is over.
  private func watch(_ trial: GenerationTrial, _ difference: ManifestDifference?) {
    guard case .canary = trial.kind else { return }
    Task { [self] in
      while !isClosed.load(ordering: .relaxed), live.trial === trial, (try? await Task.sleep(for: Self.judgementInterval)) != nil
      {
        switch trial.verdict() {
        case .undecided: break
        case .passed: _ = await promote(trial, trigger: "canary", difference)
        case .failed(let reason): _ = rollBack(trial, reason, trigger: "canary", difference)
        }
      }
    }
  }

  /// Prepares the settings of all gateways.
  private func prepare(_ manifest: Manifest) throws -> [any PreparedChange] {
    var changes: [any PreparedChange] = []
    do {
      for follower in followers.withLock(\.self) { changes.append(try follower.prepare(manifest)) }
    } catch {
      for change in changes { change.discard() }
      throw error
    }
    return changes
  }

  /// The result of reading a manifest and probing its plugins.
  private enum Loaded {
    case ready(GenerationSource.Candidate)
    /// The candidate is nil if it could not be read.
    case refused(any Error, GenerationSource.Candidate?)

    var candidate: GenerationSource.Candidate? {
      switch self {
      case .ready(let candidate): candidate
      case .refused(_, let candidate): candidate
      }
    }
  }

  /// Reads the manifest, and probes its plugins.
  ///
  /// - Returns: Also the manifest as its source has it; nil if it is from a file, or was not read.
  private func load() -> (result: Loaded, published: PublishedManifest?) {
    var candidate: GenerationSource.Candidate?
    do {
      try requireOpen()
    } catch {
      return (.refused(error, nil), nil)
    }
    do {
      let read = try source.candidate()
      candidate = read
      try source.probe(read, current: live.current)
      return (.ready(read), read.published)
    } catch {
      // Only this queue uses manifests of the source.
      return (.refused(error, candidate), source.origin.remote?.used)
    }
  }

  /// Whether a manifest replaces a fleet's candidate that serves, is on trial or failed.
  private func isReturn(_ candidate: GenerationSource.Candidate) -> Bool {
    guard let published = candidate.published, !published.isCandidate, let remote = source.origin.remote else { return false }
    return candidate.isReturn || live.serving.contains { $0.published.map { !remote.isConfirmed($0) } ?? false }
  }

  private func requireOpen() throws {
    guard isClosed.load(ordering: .relaxed) else { return }
    throw ServerError(.shutDown, "the gateway is ending and accepts no new generation; reload it after it has started again")
  }

  private func reload(_ loaded: Loaded, _ triggers: [String], anew: Bool, since start: ContinuousClock.Instant) -> ReloadReport {
    let trigger = Set(triggers).sorted().joined(separator: ", ")
    let current = live.current
    var difference: ManifestDifference?
    func report(_ outcome: ReloadReport.Outcome) -> ReloadReport {
      ReloadReport(
        outcome: outcome, trigger: trigger, generation: live.current.number, difference: difference, duration: .now - start)
    }
    do {
      try requireOpen()
      // Certificates are not part of a generation, so an unusable one does not cause a refusal.
      for follower in followers.withLock(\.self) { follower.refresh() }
      if let candidate = loaded.candidate {
        difference = ManifestDifference(
          from: current.manifest, to: candidate.manifest, oldDigests: current.digests, newDigests: candidate.digests)
      }
      let candidate: GenerationSource.Candidate
      switch loaded {
      case .ready(let ready): candidate = ready
      case .refused(let refusal, _): throw refusal
      }
      try source.requireSerials(of: candidate)
      let changes = try prepare(candidate.manifest)
      var areUsed = false
      defer { if !areUsed { for change in changes { change.discard() } } }
      let number = lastNumber.add(1, ordering: .relaxed).newValue
      let next = try source.generation(number, of: candidate, replacing: current, anew: anew)
      // A return has no trial. With a canary or a shadow, the candidate that the fleet has abandoned would run most operations.
      guard !isReturn(candidate), let trial = GenerationTrial(next) else {
        live.swap(to: next)
        for change in changes { change.commit() }
        areUsed = true
        keep(next)
        return report(.accepted)
      }
      live.begin(trial)
      watch(trial, difference)
      return report(.onTrial(trial.name))
    } catch {
      var report = report(.refused((error as? ManifestError)?.problems.map(\.description) ?? ["\(error)"]))
      report.error = ServerError.refusal(error)
      return report
    }
  }
}
