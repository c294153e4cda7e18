internal import CCarabiner
internal import CCrash
package import Carabiner
internal import CarabinerManifest
internal import Synchronization

/// The values that all plugin stages of one request share, and the request's calls through groups of stages.
package final class PluginCall: Sendable {
  /// A call as its request keeps it.
  struct Link {
    /// The next call of the same request.
    var next: GroupCall?
    /// Whether a pass is under way.
    var isInUse = false
    /// Whether the request keeps the call for later passes.
    var isKept = false
  }

  private struct State {
    var baggage = Baggage()
    var retries = 0
    /// The calls that are kept for later passes, the latest first: at most one a group.
    var calls: GroupCall?

    /// The call of a group; nil before its first pass.
    func kept(_ group: PluginStageGroup) -> GroupCall? {
      var next = calls
      while let call = next {
        if call.stages.group === group { return call }
        next = call.link.next
      }
      return nil
    }
  }

  let context: RequestContext
  package let isTraced: Bool
  let operationName: String?
  let operationType: GraphQLOperationType
  let limits: PluginLimits
  /// The plugins that the request tries although their circuit breaker is open.
  private let probes: [CircuitBreaker.Probe]
  private let state = Mutex(State())
  private let delivery = Atomic<Bool>(false)

  package init(
    context: RequestContext, operationName: String?, operationType: GraphQLOperationType, limits: PluginLimits,
    probes: [CircuitBreaker.Probe] = []
  ) {
    self.probes = probes
    self.context = context
    isTraced = context.isTraced
    self.operationName = operationName
    self.operationType = operationType
    self.limits = limits
  }

  // Nothing else refers to the request, so no pass is under way. The innermost group ends first.
  deinit {
    var next = state.withLock { $0.calls }
    while let call = next {
      next = call.link.next
      call.link.next = nil
      call.link.isKept = false
      call.end(self)
    }
  }

  // MARK: Passes

  /// Begins a pass through a group. Every pass uses the same call, so stages keep their state over retries. If an interceptor calls
  /// `next` while a pass is under way, that pass gets a call of its own.
  ///
  /// - Throws: ``PluginError`` if there are too many calls, or if an instance cannot be made.
  package func beginPass(through group: PluginStageGroup, timeout: Double?) throws -> GroupCall {
    CCrash_prepare_thread()
    let call = try freeCall(of: group) ?? newCall(of: group)
    call.beginPass(self, deadline: MonotonicClock.deadline(inSeconds: timeout))
    return call
  }

  private func freeCall(of group: PluginStageGroup) -> GroupCall? {
    state.withLock { state in
      guard let call = state.kept(group), !call.link.isInUse else { return nil }
      call.link.isInUse = true
      return call
    }
  }

  private func newCall(of group: PluginStageGroup) throws -> GroupCall {
    // Outside of the lock, because a plugin may make an instance for the call.
    let call = try GroupCall.begin(group, for: self)
    state.withLock { state in
      guard state.kept(group) == nil else { return }
      call.link.isKept = true
      call.link.isInUse = true
      call.link.next = state.calls
      state.calls = call
    }
    return call
  }

  /// Ends a pass.
  package func endPass(_ call: GroupCall) {
    call.endPass()
    guard call.link.isKept else { return call.end(self) }
    state.withLock { _ in call.link.isInUse = false }
  }

  // MARK: Shared values

  /// The request's own probe of this breaker; nil if it has none.
  func probe(of breaker: CircuitBreaker?) -> CircuitBreaker.Probe? { probes.first { $0.breaker === breaker } }

  package var baggage: Baggage { state.withLock { $0.baggage } }

  func setBaggage(_ name: String, _ value: Baggage.Value?) { state.withLock { $0.baggage[name] = value } }

  /// Counts a retry that a plugin asked for; false if the limit is reached.
  func mayRetry() -> Bool {
    state.withLock { state in
      guard state.retries < limits.maximumRetries else { return false }
      state.retries += 1
      return true
    }
  }

  /// Whether a result has gone outward. After that, the request is not started again.
  var wasDelivered: Bool { delivery.load(ordering: .relaxed) }

  func noteDelivery() { delivery.store(true, ordering: .relaxed) }

  var operationCode: UInt32 {
    switch operationType {
    case .query: UInt32(CRB_OPERATION_QUERY)
    case .mutation: UInt32(CRB_OPERATION_MUTATION)
    case .subscription: UInt32(CRB_OPERATION_SUBSCRIPTION)
    }
  }
}

/// The limits of plugins within one request.
package struct PluginLimits: Sendable, Hashable {
  /// How many retries all plugins together may ask for.
  package var maximumRetries = 3
  /// How long a cancelled hook may take to finish.
  package var cancelGrace = Duration.seconds(1)
  /// How much memory may be kept for plugins that did not resume in time before calls are refused.
  package var maximumKeptBytes = Manifest.Settings.defaultKeptMemoryBytes

  /// The defaults.
  package init() {}
}
