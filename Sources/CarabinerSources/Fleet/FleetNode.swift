package import CarabinerEtcd
package import CarabinerFleet
package import Logging
internal import Synchronization

/// A node of a fleet, as the source of its host's manifest: the stable one under a prefix of etcd, or the candidate while the rule of the
/// roll-out says so.
package final class FleetNode: ManifestSource {
  private struct State {
    /// The answers without a manifest that can be used, by kind.
    var unusable: [String: Int] = [:]
    var metrics: FleetMetrics
    var revocations = PublishedRevocations.unknown
  }

  /// The time between two looks at the reports of the others, while there is a candidate.
  private static let interval = Duration.seconds(1)

  private let store: FleetStore
  private let follower: EtcdFollower
  private let name: NodeName
  private let version: String
  private let logger: Logger
  private let presence: NodePresence
  private let queue: FleetQueue
  private let state: Mutex<State>
  package let revocationChanges: AsyncStream<Void>
  private let revocationChange: AsyncStream<Void>.Continuation

  /// - Parameters:
  ///   - name: The name of the node, which no other one of the fleet has.
  ///   - version: The version of the program, for the node's report.
  /// - Throws: ``SourceError``, or an error of the system if there are no descriptors or threads left.
  package init(
    _ address: EtcdAddress, _ settings: SourceSettings, as name: NodeName, version: String, logger: Logger
  ) throws {
    do {
      store = try FleetStore(address, settings)
    } catch let error as EtcdError {
      throw SourceError(error)
    }
    follower = EtcdFollower(store.client, store.control)
    self.name = name
    self.version = version
    self.logger = logger
    (revocationChanges, revocationChange) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let queue = FleetQueue()
    self.queue = queue
    presence = NodePresence(store, name, logger) { queue.wake() }
    state = Mutex(State(metrics: FleetMetrics(node: name)))
  }

  deinit {
    presence.stop()
    revocationChange.finish()
  }

  package var revocations: PublishedRevocations? { state.withLock(\.revocations) }

  package var metrics: SourceMetrics {
    let metrics = follower.metrics
    var found = SourceMetrics()
    found.isUp = metrics.isUp
    found.revision = metrics.revision
    (found.errors, found.fleet) = state.withLock { ($0.unusable, $0.metrics) }
    for (code, count) in metrics.failures { found.errors[code.rawValue, default: 0] += count }
    return found
  }

  package func follow(_ report: @escaping @Sendable (Result<PublishedManifest, SourceError>) async -> Void) async {
    presence.start()
    await withDiscardingTaskGroup { group in
      group.addTask { [follower, queue] in
        try? await follower.run { news in
          switch news {
          case .view(let view): queue.add(view)
          case .failure(let error): queue.add(SourceError(error))
          }
        }
      }
      var participant = FleetParticipant(store, name, version: version, presence, logger)
      var reported: Result<PublishedManifest, SourceError>?
      var hasView = false
      var isAway = false
      var hasTimer = false
      for await _ in queue.signals {
        let news = queue.take()
        if let failure = news.failure {
          isAway = true
          await report(.failure(failure))
        }
        for (id, outcome) in news.outcomes { await participant.take(outcome, of: id) }
        if let view = news.view {
          // It says that etcd is back, even if it has no change.
          if isAway { reported = nil }
          (hasView, isAway) = (true, false)
          note(store.revocations(in: view))
          await participant.take(view)
        } else if news.outcomes.isEmpty {
          await participant.decide()
        }
        if hasView, case let manifest = participant.published, manifest != reported {
          reported = manifest
          note(manifest)
          await report(manifest)
        }
        note(participant)
        if news.isTick { hasTimer = false }
        if participant.isDue, !hasTimer {
          hasTimer = true
          group.addTask { [queue] in
            try? await Task.sleep(for: Self.interval)
            queue.tick()
          }
        }
      }
      group.cancelAll()
    }
  }

  private func note(_ manifest: Result<PublishedManifest, SourceError>) {
    guard case .failure(let error) = manifest else { return }
    state.withLock { $0.unusable[error.code.rawValue, default: 0] += 1 }
  }

  private func note(_ revocations: PublishedRevocations) {
    let isNew = state.withLock { state in
      defer { state.revocations = revocations }
      return state.revocations != revocations
    }
    if isNew { revocationChange.yield() }
  }

  private func note(_ participant: FleetParticipant) {
    state.withLock { $0.metrics = participant.metrics }
  }

  /// Does nothing, because the keys are watched.
  package func refresh() async {}

  package func note(_ outcome: ManifestOutcome, of manifest: PublishedManifest) {
    queue.add(outcome, of: CandidateID(manifest: manifest.text))
  }

  package func drain() { presence.drain() }

  package func leave() async { await presence.leave() }
}
