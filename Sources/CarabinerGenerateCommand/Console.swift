internal import CarabinerWire
internal import Foundation

/// Standard output carries only results. Messages for the user go to standard error.
package enum Console {
  /// Writes a line to standard output, unbuffered.
  package static func emit(_ text: String) { write(text, to: .standardOutput) }

  /// Writes a line to standard error.
  package static func complain(_ text: String) { write(text, to: .standardError) }

  /// Texts may contain parts of files, so control characters are escaped.
  private static func write(_ text: String, to handle: FileHandle) {
    handle.write(Data((PrintableText.escaping(text, keepsLines: true) + "\n").utf8))
  }
}
