/// The reason why a file is not accepted as released, or why a file about releases cannot be used.
package struct ReleaseError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable, CaseIterable {
    /// The sidecar is missing.
    case unsigned
    /// The sidecar is malformed, it is about something else, or a signature is not valid.
    case signature
    /// The file is not the one that the statement describes.
    case pinMismatch
    /// The file, its serial or a key is revoked.
    case revoked
    /// Too few keys of the trust file have signed.
    case untrusted
    /// The statement was issued in the future.
    case notYetValid
    case expired
    /// A higher serial was in use before, or the same serial for another file.
    case downgrade
    /// A trust file, a list of revocations or a record of serials is malformed.
    case invalidFile
    case unreadable
    case notWritten
    /// Other users could change the file.
    case unsafeFile
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
