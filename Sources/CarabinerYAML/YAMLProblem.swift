package import CarabinerWire

/// A fault of a text in YAML.
package struct YAMLProblem: Error, Sendable, Hashable {
  /// The kind of the fault.
  package enum Code: Sendable, Hashable {
    /// The text is not YAML, or has a construct that JSON lacks.
    case syntax
    /// Values are nested deeper than the limit.
    case tooDeep
    /// An object has a key twice.
    case duplicateName
    /// The text has no value.
    case empty
  }

  /// A place in the text. Lines and columns are counted from 1; columns count Unicode scalars.
  package struct Place: Sendable, Hashable {
    package let line: Int
    package let column: Int
  }

  /// The kind of the fault.
  package let code: Code
  /// The place in the document.
  package let pointer: JSONPointer
  /// The place in the text, if it is known.
  package internal(set) var place: Place?
  /// The fault and the remedy.
  package let message: String

  init(_ code: Code, at pointer: JSONPointer = JSONPointer(), _ message: String) {
    self.code = code
    self.pointer = pointer
    self.message = message
  }
}
