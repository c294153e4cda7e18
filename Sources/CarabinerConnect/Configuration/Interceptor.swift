public import CarabinerCalls

/// Sees and changes calls. Conform to ``UnaryInterceptor``, ``StreamInterceptor`` or both.
///
/// Each call makes its own instance. A hook calls `proceed` with the value to pass on, at any time and on any thread. It may call it
/// several times, and it may release it without a call: then the value goes no further. Values leave a hook in the order in which they
/// entered it. Hooks of an instance may run at the same time on several threads.
public protocol Interceptor: AnyObject, Sendable {
  /// Gets the figures of the exchange, after the call has ended.
  @Sendable func handleResponseMetrics(_ metrics: HTTPMetrics, proceed: @escaping @Sendable (HTTPMetrics) -> Void)
}

extension Interceptor {
  /// Passes the figures on.
  @Sendable public func handleResponseMetrics(
    _ metrics: HTTPMetrics, proceed: @escaping @Sendable (HTTPMetrics) -> Void
  ) { proceed(metrics) }
}
