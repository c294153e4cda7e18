/// Makes an interceptor for each call.
public struct InterceptorFactory: Sendable {
  private let make: @Sendable (ProtocolClientConfig) -> any Interceptor
  private let isUnary: Bool
  private let isStream: Bool

  /// Creates a factory.
  ///
  /// - Parameter factory: Called for each call that the type of interceptor can take part in, on the thread that makes the call.
  public init<T: Interceptor>(factory: @escaping @Sendable (ProtocolClientConfig) -> T) {
    make = factory
    isUnary = T.self is any UnaryInterceptor.Type
    isStream = T.self is any StreamInterceptor.Type
  }

  func unaryInterceptor(_ config: ProtocolClientConfig) -> (any UnaryInterceptor)? {
    isUnary ? make(config) as? any UnaryInterceptor : nil
  }

  func streamInterceptor(_ config: ProtocolClientConfig) -> (any StreamInterceptor)? {
    isStream ? make(config) as? any StreamInterceptor : nil
  }
}
