/// A system call of the test server failed.
public struct SocketFailure: Error, Sendable {
  /// The name of the call.
  public let call: String
  /// Its errno.
  public let code: Int32

  init(_ call: String, _ code: Int32) {
    self.call = call
    self.code = code
  }
}
