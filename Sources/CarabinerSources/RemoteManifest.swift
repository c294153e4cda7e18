package import Logging
internal import Synchronization

/// The manifest of a source that is not a file, as it is known at the moment.
///
/// The manifest stays known when the source is away or has none any more.
package final class RemoteManifest: Sendable {
  private struct State {
    var latest: PublishedManifest?
    /// The manifest that was last used, whether or not it was accepted.
    var used: PublishedManifest?
    /// How often the manifest has changed, and how often it had when it was last used. A source may go back to an earlier one.
    var changes = 0
    var usedChanges = 0
    /// Whether the latest manifest was a candidate before, and has become stable.
    var isConfirmed = false
    var failure: SourceError?
    /// The start that waits for the first report.
    var waiting: CheckedContinuation<Void, Never>?
    var isDecided = false
  }

  /// The name of the manifest in messages.
  package let label: String
  private let source: any ManifestSource
  /// The time until a refused manifest is tried again. It is doubled each time.
  private let firstRetry: Duration
  private let onNews: @Sendable (SourceError?) -> Void
  private let state = Mutex(State())
  private let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let following = Mutex<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - firstRetry: The time until a refused manifest is tried again. It is doubled each time, up to 10 minutes.
  ///   - onNews: Called when the source fails, when it fails for another reason, and with nil when it answers again.
  package init(
    _ source: any ManifestSource, label: String, firstRetry: Duration = .seconds(10),
    onNews: @escaping @Sendable (SourceError?) -> Void
  ) {
    self.source = source
    self.firstRetry = firstRetry
    self.label = label
    self.onNews = onNews
  }

  /// Opens the source of an address.
  ///
  /// - Parameters:
  ///   - needsSidecar: Whether signatures are checked.
  ///   - version: The version of the program, which a node of a fleet reports.
  ///   - onNews: Called when the source fails, when it fails for another reason, and with nil when it answers again.
  /// - Returns: Nil for a file.
  /// - Throws: ``SourceError``, or an error of the system if there are no descriptors or threads left.
  package convenience init?(
    _ address: ManifestAddress, _ settings: SourceSettings, needsSidecar: Bool, version: String, logger: Logger,
    onNews: @escaping @Sendable (SourceError?) -> Void
  ) throws {
    switch address {
    case .file: return nil
    case .etcd(let keys, _):
      let name = settings.nodeName ?? .ofThisMachine()
      let node = try FleetNode(keys, settings, as: name, version: version, logger: logger)
      self.init(node, label: address.label, onNews: onNews)
    case .web(let web):
      self.init(try WebManifests(web, settings, needsSidecar: needsSidecar), label: address.label, onNews: onNews)
    }
  }

  deinit { close() }

  /// The state of the source, for metrics.
  package var metrics: SourceMetrics { source.metrics }

  /// The list of revocations that the source has; nil for a source without such lists.
  package var revocations: PublishedRevocations? { source.revocations }

  /// An element for each change of ``revocations``. Read once.
  package var revocationChanges: AsyncStream<Void> { source.revocationChanges }

  /// Begins to follow the source, and waits for its first manifest, or until it says that it has none.
  ///
  /// - Parameter time: The longest wait. The source is followed afterwards in any case.
  package func begin(within time: Duration) async {
    let source = source
    // The task must not keep this object alive, which ends the task.
    let task = Task { [weak self] in await source.follow { [weak self] report in self?.take(report) } }
    following.withLock { $0 = task }
    let timer = Task { [weak self] in
      try? await Task.sleep(for: time)
      self?.decide()
    }
    await withCheckedContinuation { continuation in
      let isDecided = state.withLock { state in
        if !state.isDecided { state.waiting = continuation }
        return state.isDecided
      }
      if isDecided { continuation.resume() }
    }
    timer.cancel()
  }

  /// Stops following the source, because the host ends.
  package func close() {
    source.drain()
    following.withLock { $0?.cancel() }
    change.finish()
    decide()
  }

  /// Notifies the source that the host has ended. Call it after ``close()``.
  package func leave() async { await source.leave() }

  /// Notifies the source of the outcome of a manifest.
  package func note(_ outcome: ManifestOutcome, of manifest: PublishedManifest) { source.note(outcome, of: manifest) }

  /// Whether a manifest is not a candidate, or was one until it became stable.
  package func isConfirmed(_ manifest: PublishedManifest) -> Bool {
    !manifest.isCandidate || state.withLock { state in state.latest.map { $0.isSame(as: manifest) && !$0.isCandidate } ?? false }
  }

  /// Requests the manifest now, if the source is polled.
  package func refresh() async { await source.refresh() }

  /// The manifest that is to be used. It is not reported as a change later.
  ///
  /// - Throws: ``SourceError`` if the source has not had any yet.
  package func use() throws(SourceError) -> PublishedManifest {
    let (latest, failure) = state.withLock { state in
      state.used = state.latest
      state.usedChanges = state.changes
      return (state.latest, state.failure)
    }
    if let latest { return latest }
    throw failure
      ?? SourceError(.unavailable, "\(label) has not answered in time; check its servers, or allow more with --source-timeout")
  }

  /// The manifest that was last used; nil if there is none.
  package var used: PublishedManifest? { state.withLock(\.used) }

  /// Calls a function for each manifest that is not yet used, until the task is cancelled. Called once.
  ///
  /// A manifest that was refused is tried again after some time, because the reason may be over: a server of plugins that was away, or a
  /// trust file that lacked a key.
  ///
  /// - Parameters:
  ///   - isRefused: Whether the manifest that was used at the start was refused.
  ///   - onConfirmed: Called when the manifest that is used was a candidate, and has become stable.
  ///   - onChange: Uses the manifest, and returns whether it was accepted.
  package func run(
    isRefused: Bool = false, onConfirmed: @Sendable () async -> Void = {}, _ onChange: @Sendable () async -> Bool
  ) async {
    var isRefused = isRefused
    var isDue = false
    var delay = firstRetry
    while true {
      if isNew {
        delay = firstRetry
        isRefused = !(await onChange())
      } else if isDue, isRefused, state.withLock({ $0.latest != nil }) {
        delay = min(delay * 2, Self.longestRetry)
        isRefused = !(await onChange())
      }
      if takeConfirmation() { await onConfirmed() }
      guard let hasPassed = await pause(isRefused ? delay : nil) else { return }
      isDue = hasPassed
    }
  }

  private var isNew: Bool { state.withLock { $0.changes != $0.usedChanges } }

  private func takeConfirmation() -> Bool {
    state.withLock { state in
      defer { state.isConfirmed = false }
      return state.isConfirmed
    }
  }

  /// Waits for news, or until a time has passed.
  ///
  /// - Returns: Whether the time has passed; nil at the end.
  private func pause(_ time: Duration?) async -> Bool? {
    let end = time.map { ContinuousClock.now + $0 }
    let change = change
    let timer = end.map { end in
      Task {
        // A cancelled one must not end the next pause.
        if (try? await Task.sleep(until: end)) != nil { change.yield() }
      }
    }
    defer { timer?.cancel() }
    for await _ in changes { return end.map { $0 <= .now } ?? false }
    return nil
  }

  private static let longestRetry = Duration.seconds(600)

  // MARK: Reports

  private func take(_ report: Result<PublishedManifest, SourceError>) {
    switch report {
    case .success(let manifest):
      let isBack = state.withLock { state in
        defer { state.failure = nil }
        if let latest = state.latest, latest.isSame(as: manifest) {
          if latest.isCandidate, !manifest.isCandidate { state.isConfirmed = true }
        } else {
          state.changes += 1
        }
        state.latest = manifest
        return state.failure != nil
      }
      if isBack { onNews(nil) }
      change.yield()
      decide()
    case .failure(let error):
      let isNews = state.withLock { state in
        defer { state.failure = error }
        return state.failure?.code != error.code
      }
      if isNews { onNews(error) }
      // The others may be over in a moment.
      if error.code != .unavailable { decide() }
    }
  }

  /// Ends the wait for the first manifest.
  private func decide() {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      state.isDecided = true
      return state.waiting
    }
    waiting?.resume()
  }
}
