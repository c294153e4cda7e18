package import CarabinerWire

/// One thing that is wrong with a manifest.
package struct ManifestProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is.
  package enum Code: String, Sendable, Hashable {
    case unreadable
    case syntax
    case unsupportedVersion
    case unknownKey
    case missing
    case wrongType
    case invalidValue
    case duplicateName
    case unknownStage
    case orderUnsatisfied
    case unresolvedReference
    case schemaViolation
    case mandatoryDisabled
  }

  /// What kind of fault it is.
  package let code: Code
  /// The place in the manifest.
  package let pointer: JSONPointer
  /// What is wrong and what to do next, for a person.
  package let message: String

  /// A problem at `pointer`.
  package init(_ code: Code, at pointer: JSONPointer = JSONPointer(), _ message: String) {
    self.code = code
    self.pointer = pointer
    self.message = message
  }

  package var description: String { "\(pointer.components.isEmpty ? "/" : pointer.description): \(message) [\(code.rawValue)]" }
}

/// A manifest cannot be used: everything that is wrong with it, not only the first thing.
package struct ManifestError: Error, Sendable, CustomStringConvertible {
  /// The file, or what stands for it.
  package let path: String
  /// What is wrong, in the order of the file.
  package let problems: [ManifestProblem]

  package var description: String {
    let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
    return (["\(path): \(count)"] + problems.map { "  \($0)" }).joined(separator: "\n")
  }
}
