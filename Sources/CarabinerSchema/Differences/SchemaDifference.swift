/// A difference between two versions of a schema.
public struct SchemaDifference: Sendable, Hashable, CustomStringConvertible {
  /// The effect on existing clients.
  public enum Severity: String, Sendable, Hashable, CaseIterable {
    /// A valid operation may become invalid.
    case breaking
    /// Operations stay valid, but a client may get results that it does not expect.
    case dangerous
    /// Existing clients do not notice it.
    case safe
  }

  /// The kind of a difference. The names are those of graphql-js, but for the last four, which it does not report.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case typeRemoved = "TYPE_REMOVED"
    case typeAdded = "TYPE_ADDED"
    case typeChangedKind = "TYPE_CHANGED_KIND"
    case typeRemovedFromUnion = "TYPE_REMOVED_FROM_UNION"
    case typeAddedToUnion = "TYPE_ADDED_TO_UNION"
    case valueRemovedFromEnum = "VALUE_REMOVED_FROM_ENUM"
    case valueAddedToEnum = "VALUE_ADDED_TO_ENUM"
    case requiredInputFieldAdded = "REQUIRED_INPUT_FIELD_ADDED"
    case optionalInputFieldAdded = "OPTIONAL_INPUT_FIELD_ADDED"
    case implementedInterfaceRemoved = "IMPLEMENTED_INTERFACE_REMOVED"
    case implementedInterfaceAdded = "IMPLEMENTED_INTERFACE_ADDED"
    case fieldRemoved = "FIELD_REMOVED"
    case fieldAdded = "FIELD_ADDED"
    case fieldChangedKind = "FIELD_CHANGED_KIND"
    case fieldChangedKindSafe = "FIELD_CHANGED_KIND_SAFE"
    case requiredArgumentAdded = "REQUIRED_ARG_ADDED"
    case optionalArgumentAdded = "OPTIONAL_ARG_ADDED"
    case argumentRemoved = "ARG_REMOVED"
    case argumentChangedKind = "ARG_CHANGED_KIND"
    case argumentChangedKindSafe = "ARG_CHANGED_KIND_SAFE"
    case argumentDefaultValueChange = "ARG_DEFAULT_VALUE_CHANGE"
    case argumentDefaultValueAdded = "ARG_DEFAULT_VALUE_ADDED"
    case directiveRemoved = "DIRECTIVE_REMOVED"
    case directiveAdded = "DIRECTIVE_ADDED"
    case directiveArgumentRemoved = "DIRECTIVE_ARG_REMOVED"
    case requiredDirectiveArgumentAdded = "REQUIRED_DIRECTIVE_ARG_ADDED"
    case optionalDirectiveArgumentAdded = "OPTIONAL_DIRECTIVE_ARG_ADDED"
    case directiveRepeatableRemoved = "DIRECTIVE_REPEATABLE_REMOVED"
    case directiveRepeatableAdded = "DIRECTIVE_REPEATABLE_ADDED"
    case directiveLocationRemoved = "DIRECTIVE_LOCATION_REMOVED"
    case directiveLocationAdded = "DIRECTIVE_LOCATION_ADDED"
    case descriptionChanged = "DESCRIPTION_CHANGED"
    case rootTypeChanged = "ROOT_TYPE_CHANGED"
    case oneOfAdded = "ONE_OF_ADDED"
    case oneOfRemoved = "ONE_OF_REMOVED"
    case deprecationChanged = "DEPRECATION_CHANGED"
  }

  /// The kind of the difference.
  public let kind: Kind
  /// The effect on existing clients.
  public let severity: Severity
  /// The part of the schema, as a schema coordinate: `Book`, `Book.title`, `Query.books(first:)` or `@key(fields:)`; empty for the schema.
  public let coordinate: String
  /// The description of the difference.
  public let message: String

  /// The difference in one line.
  public var description: String { "\(severity.rawValue): \(message) [\(kind.rawValue)]" }
}
