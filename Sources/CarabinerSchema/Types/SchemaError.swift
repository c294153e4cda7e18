internal import CarabinerWire

/// A schema cannot be read.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A text is not in the schema definition language.
    case syntax
    /// A text has more bytes or tokens than the limit.
    case tooLarge
    /// Values or types are nested deeper than the limit.
    case tooDeep
    /// A text is not JSON.
    case notJSON
    /// A JSON text is not an introspection result, or a part of it is missing or has the wrong type.
    case notIntrospection
    /// An introspection result names a type that it does not define.
    case undefinedType
  }

  /// The kind of the fault.
  public let code: Code
  /// The description of the fault, and what to do.
  public let message: String
  /// The place of the fault; nil for an introspection result.
  public let location: Schema.Location?

  init(_ code: Code, _ message: String, at location: Schema.Location? = nil) {
    self.code = code
    self.message = message
    self.location = location
  }

  init(_ error: GraphQLSyntaxError, file: String) {
    let code: Code =
      switch error.code {
      case .tooLarge, .tooManyTokens: .tooLarge
      case .tooDeep: .tooDeep
      default: .syntax
      }
    self.init(code, error.message, at: Schema.Location(file: file, line: error.line, column: error.column))
  }

  /// The description of the fault and its place.
  public var description: String {
    guard let location else { return message }
    let file = location.file.isEmpty ? "" : "\(location.file), "
    return "\(message) at \(file)line \(location.line), column \(location.column)"
  }
}
