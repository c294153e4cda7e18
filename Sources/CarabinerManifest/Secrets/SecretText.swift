/// A text whose references are filled in. Printing it shows the references, never what they stand for.
package struct SecretText: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The text to use.
  package let value: String
  /// The text as the manifest has it.
  package let written: String

  package var description: String { written }
  package var debugDescription: String { written.debugDescription }
  // A dump goes through the mirror and not through the description.
  package var customMirror: Mirror { Mirror(self, children: ["written": written]) }
}
