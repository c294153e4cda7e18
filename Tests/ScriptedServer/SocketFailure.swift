/// A system call of the test server failed.
public struct SocketFailure: Error, Sendable {
  /// Which call.
  public let call: String
  /// Its errno.
  public let code: Int32

  init(_ call: String, _ code: Int32) {
    self.call = call
    self.code = code
  }
}
