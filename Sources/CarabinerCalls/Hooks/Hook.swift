/// A hook of an interceptor.
package struct Hook<Value: Sendable>: Sendable {
  package typealias Proceed = @Sendable (Result<Value, ConnectError>) -> Void

  /// The type of the interceptor, for errors.
  let interceptor: String
  let run: @Sendable (Value, @escaping Proceed) -> Void

  package init(interceptor: String, run: @escaping @Sendable (Value, @escaping Proceed) -> Void) {
    self.interceptor = interceptor
    self.run = run
  }
}

/// Gets the figures of the exchange, after the call has ended.
package typealias MetricsHook = @Sendable (HTTPMetrics) -> Void
