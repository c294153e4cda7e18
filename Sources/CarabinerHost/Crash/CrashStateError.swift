/// What is known of earlier crashes cannot be read or kept.
package struct CrashStateError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was.
  package enum Code: String, Sendable {
    case notInstalled
    case unreadable
    case notOurs
    case notWritten
    case busy
  }

  /// What kind of failure it was.
  package let code: Code
  /// The file or folder.
  package let path: String
  /// What happened and what to do next, for a person.
  package let message: String

  init(_ code: Code, path: String, _ message: String) {
    self.code = code
    self.path = path
    self.message = message
  }

  package var description: String { "\(path): \(message) [\(code.rawValue)]" }
}
