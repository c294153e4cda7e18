internal import Carabiner
package import CarabinerWire

/// One problem in a manifest.
package struct ManifestProblem: DescribedError, Sendable, Hashable {
  /// The kind of problem.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case unreadable
    case tooLarge
    case tooDeep
    case syntax
    case unsupportedVersion
    case unknownKey
    case missing
    case wrongType
    case invalidValue
    case duplicateName
    case unknownStage
    case unusedPlugin
    case unusedSetting
    case missingGrant
    case orderUnsatisfied
    case orderCycle
    case malformedReference
    case unresolvedReference
    case schemaViolation
    case mandatoryDisabled
    case pluginRefused
    case crashLoop
    case downloadFailed
    case pinMismatch
    case isolation
    case reload
    case sharedStore
  }

  /// A place in the text. Lines and columns are counted from 1; columns count Unicode scalars.
  package struct TextPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let line: Int
    package let column: Int

    package static func < (left: TextPosition, right: TextPosition) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }

    package var description: String { "line \(line), column \(column)" }
  }

  /// The kind of problem.
  package let code: Code
  /// The place in the manifest.
  package let pointer: JSONPointer
  /// The place in the file, if it is known.
  package var position: TextPosition?
  /// The problem and the remedy, for the operator.
  package let message: String

  /// A problem at `pointer`.
  package init(_ code: Code, at pointer: JSONPointer = JSONPointer(), _ message: String) {
    self.code = code
    self.pointer = pointer
    self.message = message
  }

  package var description: String {
    let place = pointer.components.isEmpty ? "/" : pointer.description
    return "\(place)\(position.map { " (\($0))" } ?? ""): \(message) [\(code.rawValue)]"
  }
}
