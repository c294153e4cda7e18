internal import Carabiner
internal import Synchronization

/// Values that interceptors keep for one request. Retries keep them.
///
/// One interceptor may serve many requests, so it must not keep them itself.
final class ChainMemory: Sendable {
  private struct State {
    var counts: [ObjectIdentifier: Int] = [:]
    var head: HTTPURLResponse?
    var deliveredPolicy: CachePolicy?
    var stages: StageSet?
  }

  private let state = Mutex(State())
  /// The keys of the store of the client that sends the request.
  let policy = ClientStore.current?.core.policy ?? .default

  /// How often this was called for `interceptor` before.
  func count(for interceptor: AnyObject) -> Int {
    let key = ObjectIdentifier(interceptor)
    return state.withLock { state in
      defer { state.counts[key, default: 0] += 1 }
      return state.counts[key, default: 0]
    }
  }

  /// The head of the last response.
  var head: HTTPURLResponse? {
    get { state.withLock { $0.head } }
    set { state.withLock { $0.head = newValue } }
  }

  /// The policy under which a value of the cache was delivered; nil if none was.
  var deliveredPolicy: CachePolicy? {
    get { state.withLock { $0.deliveredPolicy } }
    set { state.withLock { $0.deliveredPolicy = newValue } }
  }

  /// The interceptors of the core for this request, or nil.
  var stages: StageSet? { state.withLock { $0.stages } }

  /// The interceptors of the core for this request, which are made once.
  func stages(
    tracer: (any ChainTracer)?, _ make: (Carabiner.RequestContext) throws -> RequestInterceptors
  ) throws -> StageSet {
    if let stages { return stages }
    let context = Carabiner.RequestContext(tracer: tracer)
    let made = StageSet(interceptors: try make(context), context: context)
    return state.withLock { state in
      let kept = state.stages ?? made
      state.stages = kept
      return kept
    }
  }
}

/// The interceptors of the core for one request. Retries use the same.
struct StageSet: Sendable {
  let interceptors: RequestInterceptors
  let context: Carabiner.RequestContext
}

extension RequestChain {
  /// The memory of this request; nil if the chain is a type of the user.
  var requestMemory: ChainMemory? { ((self as? ChainPlace)?.engine ?? self as? InterceptorRequestChain)?.memory }
}
