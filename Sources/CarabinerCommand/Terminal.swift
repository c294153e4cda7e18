internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// Standard output carries only results. Messages for the user go to standard error.
///
/// All texts pass through this type. They may contain texts of plugins and servers, so control characters are escaped.
enum Terminal {
  /// The secrets of the manifests that this process has read.
  ///
  /// Many messages contain an endpoint with a key, so they are redacted here.
  static let secrets = SecretRegister()

  /// The text with secrets replaced by their references.
  static func redacted(_ text: String) -> String { secrets(text) }

  /// Writes a line to standard error, with secrets redacted.
  static func complain(_ text: String) {
    FileHandle.standardError.write(Data((PrintableText.escaping(redacted(text), keepsLines: true) + "\n").utf8))
  }

  /// Writes a line to standard output, unbuffered.
  static func emit(_ text: String) { emitColoured(PrintableText.escaping(text, keepsLines: true)) }

  /// Writes a line that sets colours and has escaped the texts of others itself.
  static func emitColoured(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

  /// Replaces the current line of standard error.
  static func progress(_ text: String) {
    FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
  }

  /// Whether standard output is a terminal and `NO_COLOR` is not set.
  static var showsColours: Bool { isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil }

  /// Whether standard error is a terminal.
  static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }
}
