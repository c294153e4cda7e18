internal import CarabinerEtcd
internal import CarabinerFleet
internal import Logging
internal import Synchronization

/// The key under `nodes/` with the report of this node, and the lease that it ends with (`fleet.12`).
final class NodePresence: Sendable {
  /// The state of the key.
  enum Standing: Sendable, Hashable {
    /// It is not written yet, or etcd is away.
    case unknown
    /// It is that of this process.
    case registered
    /// It is that of another process with the same name.
    case foreign
  }

  private struct State {
    var record: NodeRecord?
    /// The report that is in the store.
    var written: NodeRecord?
    var standing = Standing.unknown
    var lease: EtcdLease?
    var renewed = ContinuousClock.now
    /// The leases that this process had before.
    var earlier: Set<Int64> = []
    /// The revision of the key's last change by this process; 0 if there is none.
    var revision: Int64 = 0
    /// The last error that was logged.
    var failure: EtcdError.Code?
    var isDraining = false
    /// The note of this process about a candidate.
    var mark: String?
    var task: Task<Void, Never>?
  }

  /// The time to live of the lease.
  static let leaseSeconds = 15
  /// The time between two renewals.
  static let renewalInterval = Duration.seconds(5)
  /// How often a report is written again at once because its key has changed meanwhile.
  private static let maximumTries = 3
  /// Leases are lost when etcd is away for long. The key of the oldest one is gone by then.
  private static let maximumEarlierLeases = 16

  private let store: FleetStore
  private let name: NodeName
  private let logger: Logger
  /// Called when the standing has changed.
  private let onChange: @Sendable () -> Void
  private let state = Mutex(State())
  private let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(_ store: FleetStore, _ name: NodeName, _ logger: Logger, onChange: @escaping @Sendable () -> Void) {
    self.store = store
    self.name = name
    self.logger = logger
    self.onChange = onChange
  }

  /// The state of the key.
  var standing: Standing { state.withLock(\.standing) }

  /// Sets the report of the node. It is written soon, and again whenever its lease was lost.
  func set(_ record: NodeRecord) {
    let isNew = state.withLock { state in
      guard !state.isDraining, state.record != record else { return false }
      state.record = record
      return true
    }
    if isNew { signal.yield() }
  }

  /// Reports that the node is draining. Later reports are ignored.
  func drain() {
    state.withLock { state in
      state.record?.state = .draining
      state.isDraining = true
    }
    signal.yield()
  }

  /// Notes the key under `taken/` that is removed when this process ends in order: such an end says nothing about the candidate.
  ///
  /// - Parameter mark: Nil for none.
  func note(mark: String?) { state.withLock { $0.mark = mark } }

  // MARK: The course of a lease

  /// Begins to write reports and to renew the lease, until ``stop()``.
  func start() {
    let task = Task { [self] in
      while !Task.isCancelled {
        await step()
        await pause()
      }
    }
    state.withLock { $0.task = task }
  }

  /// Stops without a request to etcd: the key ends with its lease.
  func stop() {
    state.withLock { $0.task }?.cancel()
    signal.finish()
  }

  /// Stops, and removes the key and the note of this process at once, if the key is its own.
  func leave() async {
    let task = state.withLock { $0.task }
    task?.cancel()
    signal.yield()
    await task?.value
    let key = store.keys.name(.node(name))
    for _ in 0..<Self.maximumTries {
      let now = state.withLock { state in
        (revision: state.revision, isOwn: state.standing == .registered, keys: [key] + (state.mark.map { [$0] } ?? []))
      }
      guard now.isOwn, now.revision > 0 else { return }
      let result = try? await store.client.transaction(
        if: [.changed(key, at: now.revision)], then: now.keys.map { .delete(.one($0)) })
      // The answer to the last report may have been cut off.
      guard let result, !result.hasSucceeded, let found = result.found.first(where: { $0.key == key }), isOwn(found) else {
        return
      }
      state.withLock { $0.revision = found.changed }
    }
  }

  /// Whether a key ends with a lease of this process.
  private func isOwn(_ value: EtcdValue) -> Bool {
    state.withLock { $0.earlier.contains(value.lease) || $0.lease?.id == value.lease }
  }

  private func pause() async {
    let signal = signal
    let timer = Task {
      // A cancelled one must not end the next pause.
      if (try? await Task.sleep(for: Self.renewalInterval)) != nil { signal.yield() }
    }
    defer { timer.cancel() }
    for await _ in signals { return }
  }

  private func step() async {
    let before = standing
    do {
      try await renew()
      try await write()
      state.withLock { $0.failure = nil }
    } catch {
      note(error)
    }
    if standing != before { onChange() }
  }

  private func renew() async throws {
    let (lease, age) = state.withLock { ($0.lease, ContinuousClock.now - $0.renewed) }
    guard let lease else {
      let new = try await store.client.lease(seconds: Self.leaseSeconds)
      state.withLock { state in
        state.lease = new
        state.renewed = .now
        state.written = nil
      }
      return
    }
    guard age >= Self.renewalInterval * 0.9 else { return }
    if try await store.client.keepAlive(lease) != nil {
      state.withLock { $0.renewed = .now }
      return
    }
    state.withLock { state in
      if state.earlier.count >= Self.maximumEarlierLeases { state.earlier = [] }
      state.earlier.insert(lease.id)
      state.lease = nil
    }
    try await renew()
  }

  private func write() async throws {
    for _ in 0..<Self.maximumTries {
      let now = state.withLock { (record: $0.record, written: $0.written, lease: $0.lease, revision: $0.revision) }
      guard let record = now.record, let lease = now.lease else { return }
      if record == now.written { return }
      switch try await store.report(record, of: name, under: lease, replacing: now.revision) {
      case .written(let revision):
        state.withLock { state in
          state.revision = revision
          state.written = record
        }
        stand(.registered)
      case .changed(nil): state.withLock { $0.revision = 0 }
      case .changed(let value?):
        guard isOwn(value) else {
          // Written again with the next renewal, in case that lease is gone by then.
          state.withLock { $0.revision = 0 }
          return stand(.foreign)
        }
        state.withLock { $0.revision = value.changed }
      }
    }
  }

  private func stand(_ standing: Standing) {
    let before = state.withLock { state in
      defer { state.standing = standing }
      return state.standing
    }
    guard before != standing else { return }
    switch standing {
    case .registered: logger.info("this node reports to its fleet", metadata: ["node": "\(name)"])
    case .foreign:
      logger.critical(
        "another process reports to the fleet under the name of this node, so this node takes no candidate until that one has ended; if both go on, give one another --node-id",
        metadata: ["node": "\(name)"])
    case .unknown: break
    }
  }

  private func note(_ error: any Error) {
    guard !Task.isCancelled, let error = error as? EtcdError else { return }
    let isNew = state.withLock { state in
      // A key that may have changed is written again.
      if error.code == .uncertain { state.written = nil }
      defer { state.failure = error.code }
      return state.failure != error.code
    }
    // That etcd is away is logged by the follower of the manifests.
    if isNew, error.code != .unavailable, error.code != .uncertain {
      logger.error("this node cannot report to its fleet", metadata: ["node": "\(name)", "reason": "\(error)"])
    }
  }
}
