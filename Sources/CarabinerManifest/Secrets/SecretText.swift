/// A text with its references resolved. Printing it shows the references, never their values.
package struct SecretText: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The text to use.
  package let value: String
  /// The text as written in the manifest.
  package let written: String

  /// Creates a text with the form in which it is shown.
  package init(value: String, written: String) {
    self.value = value
    self.written = written
  }

  package var description: String { written }
  package var debugDescription: String { written.debugDescription }
  // `dump` uses the mirror and not the description.
  package var customMirror: Mirror { Mirror(self, children: ["written": written]) }
}
