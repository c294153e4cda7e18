/// The reason why a file was not downloaded.
package struct DownloadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable, CaseIterable {
    /// The server was not reached, or the connection ended.
    case network
    /// The server answered, but not with a file.
    case refused
    case tooLarge
    case timedOut
    /// The file does not have the digest that the manifest names.
    case pinMismatch
    /// The folder for downloads cannot be used, or it is full.
    case storage
  }

  /// The kind of failure.
  package let code: Code
  /// The failure and the next step, for the operator.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(message) [\(code.rawValue)]" }
}
