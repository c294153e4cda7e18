internal import CarabinerCalls

/// The interceptors of one call, in the order of requests, and their hooks in the order of each direction.
struct CallChain<Interceptor: Sendable>: Sendable {
  let interceptors: [Interceptor]

  /// Hooks of requests.
  func outward<Value>(
    _ run: @escaping @Sendable (Interceptor, Value, @escaping Hook<Value>.Proceed) -> Void
  ) -> [Hook<Value>] {
    interceptors.map { interceptor in
      Hook(interceptor: "\(type(of: interceptor as Any))") { value, proceed in run(interceptor, value, proceed) }
    }
  }

  /// Hooks of responses, which cannot refuse.
  func inward<Value>(
    _ run: @escaping @Sendable (Interceptor, Value, @escaping @Sendable (Value) -> Void) -> Void
  ) -> [Hook<Value>] {
    outward { interceptor, value, proceed in run(interceptor, value) { proceed(.success($0)) } }.reversed()
  }
}

/// Passes the figures of an exchange through the interceptors, last first.
struct MetricsPass: Sendable {
  let interceptors: [any Interceptor]

  func run(_ metrics: HTTPMetrics) {
    guard let last = interceptors.last else { return }
    let rest = MetricsPass(interceptors: interceptors.dropLast())
    last.handleResponseMetrics(metrics) { rest.run($0) }
  }
}
