internal import Foundation

/// Standard output carries results and nothing else; everything for people goes to standard error.
enum Terminal {
  /// Writes a line to standard error.
  static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }

  /// Writes a line to standard output at once.
  static func emit(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  /// Writes over the current line of standard error.
  static func progress(_ text: String) {
    FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
  }

  /// Whether a person looks at standard error.
  static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }
}
