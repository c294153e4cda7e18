internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import Dispatch
internal import Foundation
internal import Logging
internal import Synchronization

/// Makes new generations of a manifest, one after the other, while the old ones serve.
final class Reloader: Sendable {
  /// How often a canary is judged.
  private static let judgementInterval = Duration.milliseconds(200)

  private struct Waiting {
    var triggers: [String] = []
    /// Whether one of them wants all instances made anew.
    var anew = false
    var continuations: [CheckedContinuation<ReloadReport, Never>] = []
  }

  private let live: GenerationManager
  private let source: GenerationSource
  /// The certificates of the gateways over this host.
  private let certificates = Mutex<[ServerCertificate]>([])
  private let queue = DispatchQueue(label: "carabiner.reload")
  /// Who asked since the last reload began: all of them are served by the next.
  private let waiting = Mutex(Waiting())
  private let lastNumber = Atomic<UInt64>(1)
  private let isClosed = Atomic<Bool>(false)

  init(_ live: GenerationManager, _ source: GenerationSource) {
    self.live = live
    self.source = source
  }

  /// Reads the files of a certificate again at each reload.
  func add(_ certificate: ServerCertificate) { certificates.withLock { $0.append(certificate) } }

  func remove(_ certificate: ServerCertificate) { certificates.withLock { $0.removeAll { $0 === certificate } } }

  /// Makes no more generations: the gateway is ending.
  func close() { isClosed.store(true, ordering: .relaxed) }

  /// Reads the manifest again and lets it take over if all of it is in order.
  ///
  /// - Parameter anew: Whether all instances of plugins are made anew, also those for which nothing has changed.
  func reload(trigger: String, anew: Bool = false) async -> ReloadReport {
    await withCheckedContinuation { continuation in
      let isFirst = waiting.withLock { waiting in
        waiting.continuations.append(continuation)
        waiting.triggers.append(trigger)
        waiting.anew = waiting.anew || anew
        return waiting.continuations.count == 1
      }
      // Loading blocks, and so does looking at a plugin in a child process.
      if isFirst { queue.async { [self] in serveWaiting() } }
    }
  }

  private func serveWaiting() {
    let group = waiting.withLock { waiting in
      defer { waiting = Waiting() }
      return waiting
    }
    let report = reload(group.triggers, anew: group.anew)
    note(report)
    for continuation in group.continuations { continuation.resume(returning: report) }
  }

  private func note(_ report: ReloadReport) {
    live.note(report)
    // Written whatever the log's level is: a signal has no other answer.
    var logger = live.output.logger
    logger.logLevel = min(logger.logLevel, .notice)
    logger.log(
      level: report.isAccepted ? .notice : .error, "reload: \(live.output.redacted(report.text))",
      metadata: ["trigger": "\(report.trigger)", "generation": "\(report.generation)"])
  }

  /// Keeps a generation that serves as the last known good one. That this fails is told, and no reason not to serve.
  func keep(_ generation: Generation) {
    do {
      try source.lastKnownGood()?.keep(generation.manifest, libraries: generation.host.chain.libraries)
    } catch {
      live.output.logger.error("the last known good manifest is not kept", metadata: ["reason": "\(error)"])
    }
  }

  // MARK: Overrides

  /// Switches the plugins a pattern fits on or off, now and in the generations to come; or takes back what was last said of it.
  ///
  /// - Parameter isEnabled: Nil to take back.
  /// - Throws: ``ManifestError`` if none fits or one is mandatory, ``LoadRefusal`` if one cannot be loaded.
  func override(_ pattern: String, isEnabled: Bool?, reason: String) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      queue.async { [self] in
        continuation.resume(with: Result { try change(pattern, isEnabled, reason) })
      }
    }
  }

  private func change(_ pattern: String, _ isEnabled: Bool?, _ reason: String) throws {
    for generation in [live.current, live.trial?.generation].compactMap(\.self) {
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

  /// Lets a generation on trial take over.
  ///
  /// - Returns: Nil if its trial is over already.
  func promote(_ trial: GenerationTrial, trigger: String, _ difference: ManifestDifference? = nil) -> ReloadReport? {
    guard live.trial === trial else { return nil }
    live.swap(to: trial.generation)
    keep(trial.generation)
    let report = ReloadReport(
      outcome: .promoted, trigger: trigger, generation: live.current.number, difference: difference,
      duration: .now - trial.start)
    note(report)
    return report
  }

  /// Ends a trial; the old generation goes on as before.
  ///
  /// - Returns: Nil if it is over already.
  func rollBack(
    _ trial: GenerationTrial, _ reason: String, trigger: String, _ difference: ManifestDifference? = nil
  ) -> ReloadReport? {
    guard live.giveUp(trial) else { return nil }
    let report = ReloadReport(
      outcome: .rolledBack(reason), trigger: trigger, generation: live.current.number, difference: difference,
      duration: .now - trial.start)
    note(report)
    return report
  }

  /// Judges a trial now and then until it is over.
  private func watch(_ trial: GenerationTrial, _ difference: ManifestDifference?) {
    guard case .canary = trial.kind else { return }
    Task { [self] in
      while !isClosed.load(ordering: .relaxed), live.trial === trial, (try? await Task.sleep(for: Self.judgementInterval)) != nil
      {
        switch trial.verdict() {
        case .undecided: break
        case .passed: _ = promote(trial, trigger: "canary", difference)
        case .failed(let reason): _ = rollBack(trial, reason, trigger: "canary", difference)
        }
      }
    }
  }

  private func reload(_ triggers: [String], anew: Bool) -> ReloadReport {
    let start = ContinuousClock.now
    let trigger = Set(triggers).sorted().joined(separator: ", ")
    let current = live.current
    var difference: ManifestDifference?
    func report(_ outcome: ReloadReport.Outcome) -> ReloadReport {
      ReloadReport(
        outcome: outcome, trigger: trigger, generation: live.current.number, difference: difference, duration: .now - start)
    }
    func refusal(_ error: any Error) -> ReloadReport {
      var report = report(.refused((error as? ManifestError)?.problems.map(\.description) ?? ["\(error)"]))
      report.error = ServerError.refusal(error)
      return report
    }
    if isClosed.load(ordering: .relaxed) {
      return refusal(
        ServerError(.shutDown, "the gateway is ending and takes no new generation; reload it once it has started again"))
    }
    // Its files are no part of a generation, and one that cannot be used refuses none.
    for certificate in certificates.withLock(\.self) { certificate.refresh() }
    do {
      let candidate = try source.candidate()
      difference = ManifestDifference(
        from: current.manifest, to: candidate.manifest, oldDigests: current.digests, newDigests: candidate.digests)
      try source.probe(candidate, current: current)
      let number = lastNumber.add(1, ordering: .relaxed).newValue
      let next = try source.generation(number, of: candidate, replacing: current, anew: anew)
      guard let trial = GenerationTrial(next) else {
        live.swap(to: next)
        keep(next)
        return report(.accepted)
      }
      live.begin(trial)
      watch(trial, difference)
      return report(.onTrial(trial.name))
    } catch {
      return refusal(error)
    }
  }
}
