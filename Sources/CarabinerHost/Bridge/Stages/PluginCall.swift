internal import CCarabiner
internal import Carabiner
internal import CarabinerManifest
internal import Synchronization

/// What the plugin stages of one request share, whatever their kind.
package final class PluginCall: Sendable {
  private struct State {
    var baggage = Baggage()
    var retries = 0
  }

  let context: RequestContext
  let isTraced: Bool
  let operationName: String?
  let operationType: GraphQLOperationType
  let limits: PluginLimits
  /// What it tries although a circuit breaker is open.
  private let probes: [CircuitBreaker.Probe]
  private let state = Mutex(State())
  private let delivery = Atomic<Bool>(false)

  init(
    context: RequestContext, operationName: String?, operationType: GraphQLOperationType, limits: PluginLimits,
    probes: [CircuitBreaker.Probe] = []
  ) {
    self.probes = probes
    self.context = context
    isTraced = context.tracer != nil
    self.operationName = operationName
    self.operationType = operationType
    self.limits = limits
  }

  /// The probe of this breaker that the request is; nil if it is none.
  func probe(of breaker: CircuitBreaker?) -> CircuitBreaker.Probe? { probes.first { $0.breaker === breaker } }

  var baggage: Baggage { state.withLock { $0.baggage } }

  func setBaggage(_ name: String, _ value: Baggage.Value?) { state.withLock { $0.baggage[name] = value } }

  /// Counts a retry a plugin asked for; false if there were enough.
  func mayRetry() -> Bool {
    state.withLock { state in
      guard state.retries < limits.maximumRetries else { return false }
      state.retries += 1
      return true
    }
  }

  /// Whether a result has gone outward; what the caller has seen cannot be started over.
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

/// What plugins may ask of one request.
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
