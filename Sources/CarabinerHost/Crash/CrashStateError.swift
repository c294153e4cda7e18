/// The records of earlier crashes cannot be read or written.
package struct CrashStateError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable {
    case notInstalled
    case unreadable
    case notOurs
    case notWritten
    case busy
  }

  /// The kind of failure.
  package let code: Code
  /// The file or folder.
  package let path: String
  /// The message for the operator: the failure and the next step.
  package let message: String

  init(_ code: Code, path: String, _ message: String) {
    self.code = code
    self.path = path
    self.message = message
  }

  package var description: String { "\(path): \(message) [\(code.rawValue)]" }
}
