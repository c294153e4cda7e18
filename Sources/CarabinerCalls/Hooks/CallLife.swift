internal import Synchronization

/// Exists as long as a call can continue: while one of its values is on its way, or a hook has one of its closures.
///
/// The closures of hooks and the callbacks of transfers keep it. The call itself does not.
final class CallLife: Sendable {
  private let last = Mutex<String?>(nil)
  private let ended: @Sendable (_ interceptor: String?) -> Void

  /// - Parameter ended: Called when nothing can continue the call, with the interceptor that released a closure last without using
  ///   it. It must run no code of the user.
  init(ended: @escaping @Sendable (_ interceptor: String?) -> Void) { self.ended = ended }

  deinit { ended(last.withLock { $0 }) }

  /// An interceptor released a closure without using it.
  func wasReleased(by interceptor: String) { last.withLock { $0 = interceptor } }
}

extension ConnectError {
  /// The error of a call that nothing can continue.
  static func abandoned(by interceptor: String?) -> ConnectError {
    guard let interceptor else {
      return ConnectError(
        code: .internalError,
        message: "the HTTP client ended the exchange without a response; check the HTTPClientInterface in use")
    }
    return ConnectError(
      code: .internalError,
      message: "\(interceptor) released its closure without calling it, and nothing else continues the call; it must call proceed"
    )
  }
}
