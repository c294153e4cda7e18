internal import Carabiner
internal import Synchronization

/// Follows keys: reads them, watches them from there, and reads them again after each change.
///
/// A watch reports the changes of one transaction in several lines if they are in several ranges of keys. Reading again shows all of them
/// at one revision.
package final class EtcdFollower: Sendable {
  private struct State {
    var metrics = EtcdMetrics()
    var waiting: [EtcdReport] = []
    var last: EtcdView?
  }

  private let client: EtcdClient
  private let keys: [EtcdKeys]
  private let limits: EtcdLimits
  private let state = Mutex(State())

  package init(_ client: EtcdClient, _ keys: [EtcdKeys]) {
    self.client = client
    self.keys = keys
    limits = client.settings.limits
  }

  /// The state now.
  package var metrics: EtcdMetrics { state.withLock(\.metrics) }

  /// Follows the keys until the task is cancelled. Call it once at a time.
  ///
  /// - Parameter report: Called with the keys at first and after each change, and with each failure, one report at a time. A slow reader
  ///   gets the latest view and the latest failure only.
  /// - Throws: `CancellationError`, or the error of `report`.
  package func run(_ report: @Sendable (EtcdReport) async throws -> Void) async throws {
    let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      // A task of its own, because a reader that takes minutes must not make the watch look silent.
      group.addTask { [self] in
        defer {
          signal.finish()
          state.withLock { $0.metrics.isUp = false }
        }
        try await follow { signal.yield() }
      }
      for await _ in signals {
        while let next = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) { try await report(next) }
      }
      try await group.waitForAll()
      try Task.checkCancellation()
    }
  }

  // MARK: The course of a watch

  /// - Parameter wake: Called after each new report.
  private func follow(_ wake: @escaping @Sendable () -> Void) async throws {
    var generator = SystemRandomNumberGenerator()
    var backoff = EtcdBackoff(limits)
    while true {
      let began = ContinuousClock.now
      var member = client.member
      do {
        let view = try await client.view(of: keys, since: state.withLock(\.last))
        add(view, isFirst: true, wake)
        member = client.member
        try await watch(from: view.revision + 1, wake)
      } catch {
        try Task.checkCancellation()
        let error = error as? EtcdError ?? EtcdError(.unavailable, "etcd cannot be followed: \(error)")
        state.withLock { state in
          state.metrics.isUp = false
          state.metrics.failures[error.code, default: 0] += 1
          // History that is gone is not a fault of the member, and is read again.
          if error.code != .compacted { state.waiting.add(.failure(error)) }
        }
        if error.code != .compacted {
          client.leave(member)
          wake()
        }
      }
      if .now - began > limits.maximumDelay { backoff.reset() }
      try await Task.sleep(for: backoff.delay(&generator))
    }
  }

  /// Adds a report of the keys as they are now.
  ///
  /// - Parameter isFirst: Whether no other one was read at the same time. Its revision may be lower, if etcd was restored from a copy.
  private func add(_ view: EtcdView, isFirst: Bool = false, _ wake: () -> Void) {
    state.withLock { state in
      // Each range of keys has a reader, and the older one of two views may come later.
      guard isFirst || view.revision >= state.last?.revision ?? 0 else { return }
      state.last = view
      state.metrics.revision = view.revision
      state.waiting.add(.view(view))
    }
    wake()
  }

  /// Watches the keys and checks the watch, until one of both fails.
  private func watch(from revision: Int64, _ wake: @escaping @Sendable () -> Void) async throws {
    let member = client.member
    let watches = try await watches(from: revision)
    state.withLock { state in
      state.metrics.isUp = true
      state.metrics.watches += 1
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      for watch in watches { group.addTask { [self] in try await read(watch, wake) } }
      group.addTask { [self] in try await check(member) }
      try await group.next()
    }
  }

  /// Begins a watch of each range of keys.
  private func watches(from revision: Int64) async throws -> [EtcdWatch] {
    try await withThrowingTaskGroup(of: EtcdWatch.self) { group in
      for keys in keys { group.addTask { [client] in try await client.watch(keys, from: revision) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func read(_ watch: EtcdWatch, _ wake: () -> Void) async throws {
    while true {
      let line = try await watch.next()
      let last = state.withLock(\.last)
      // Lines of one transaction have the same revision, and the first one has led to a view with all of it.
      guard !line.events.isEmpty, line.revision > last?.revision ?? 0 else { continue }
      add(try await client.view(of: keys, since: last), wake)
    }
  }

  /// Compares the last view with the keys from time to time.
  ///
  /// - Throws: ``EtcdError`` if the view stays behind, or if the member of the watch does not answer.
  private func check(_ member: Int) async throws {
    while true {
      // Nodes that began together must not ask together.
      try await Task.sleep(for: limits.checkInterval * Double.random(in: Self.checkJitter))
      let found = try await client.ranges(keys.map { .init($0, isWithoutValues: true, isLocal: true) })
      guard client.member == member else {
        throw EtcdError(.unavailable, "the member of a watch of etcd does not answer; the watch is begun again at another member")
      }
      guard isBehind(found) else { continue }
      try await Task.sleep(for: limits.maximumLag)
      guard !isBehind(found) else {
        throw EtcdError(.unavailable, "a watch of etcd is \(limits.maximumLag) behind the keys; it is begun again")
      }
    }
  }

  private static let checkJitter = 0.9...1.1

  private func isBehind(_ found: EtcdTransaction) -> Bool { state.withLock { $0.last?.lacksChanges(of: found) ?? false } }
}
