internal import CarabinerHost
internal import CarabinerManifest
internal import Foundation

/// Standard output carries results and nothing else; everything for people goes to standard error.
enum Terminal {
  /// The secrets of the manifests that this process has read.
  ///
  /// Messages come from everywhere, and an endpoint with a key in it is part of many; this is the one door all of them pass.
  static let secrets = SecretRegister()

  /// The text without what is secret.
  static func redacted(_ text: String) -> String { secrets(text) }

  /// Writes a line to standard error.
  static func complain(_ text: String) {
    FileHandle.standardError.write(Data((redacted(text) + "\n").utf8))
  }

  /// Writes a line to standard output at once.
  static func emit(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  /// Writes over the current line of standard error.
  static func progress(_ text: String) {
    FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
  }

  /// Whether standard output is a terminal that shows colours; `NO_COLOR` says that it is not to.
  static var showsColours: Bool { isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil }

  /// Whether a person looks at standard error.
  static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }
}
