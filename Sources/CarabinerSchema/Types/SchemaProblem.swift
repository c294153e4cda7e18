/// A fault of a schema that can be read but is not valid.
public struct SchemaProblem: Sendable, Hashable, CustomStringConvertible {
  /// The rule that the schema violates. Names are those of graphql-js where it has one.
  public enum Rule: String, Sendable, Hashable, CaseIterable {
    /// There is one definition of the schema itself.
    case loneSchemaDefinition = "LoneSchemaDefinition"
    /// An operation has one root type.
    case uniqueOperationTypes = "UniqueOperationTypes"
    /// A name is defined once as a type.
    case uniqueTypeNames = "UniqueTypeNames"
    /// A name is defined once as a directive.
    case uniqueDirectiveNames = "UniqueDirectiveNames"
    /// A type has one field of a name.
    case uniqueFieldDefinitionNames = "UniqueFieldDefinitionNames"
    /// A field or directive has one argument of a name.
    case uniqueArgumentDefinitionNames = "UniqueArgumentDefinitionNames"
    /// An enumeration has one value of a name.
    case uniqueEnumValueNames = "UniqueEnumValueNames"
    /// A union has a member once.
    case uniqueUnionMembers = "UniqueUnionMembers"
    /// A type implements an interface once.
    case uniqueInterfaces = "UniqueInterfaces"
    /// A directive lists a location once.
    case uniqueDirectiveLocations = "UniqueDirectiveLocations"
    /// Each type that is used is defined.
    case knownTypeNames = "KnownTypeNames"
    /// An extension extends a type of its kind.
    case possibleTypeExtensions = "PossibleTypeExtensions"
    /// Each location of a directive is one of the specification.
    case knownDirectiveLocations = "KnownDirectiveLocations"
    /// Root types are different object types, and there is one for queries.
    case rootTypes = "RootTypes"
    /// Names that begin with two underscores belong to the specification.
    case reservedNames = "ReservedNames"
    /// A type has at least one field, member or value.
    case nonEmptyTypes = "NonEmptyTypes"
    /// A field has a type for results.
    case outputTypes = "OutputTypes"
    /// An argument or a field of an input object has a type for values.
    case inputTypes = "InputTypes"
    /// A type implements interfaces only.
    case implementedInterfaces = "ImplementedInterfaces"
    /// A type has the fields of its interfaces, and all interfaces of these.
    case interfaceImplementations = "InterfaceImplementations"
    /// An interface does not implement itself.
    case interfaceCycles = "InterfaceCycles"
    /// A member of a union is an object type.
    case unionMembers = "UnionMembers"
    /// A value of an input object can be finite.
    case inputObjectCycles = "InputObjectCycles"
    /// Default values do not contain themselves.
    case defaultValueCycles = "DefaultValueCycles"
    /// A default value is a value of its type.
    case defaultValues = "DefaultValues"
    /// The fields of an input object with `@oneOf` are nullable and have no default values.
    case oneOfFields = "OneOfFields"
    /// A required argument or field is not deprecated.
    case requiredDeprecated = "RequiredDeprecated"
    /// A directive does not refer to itself.
    case directiveCycles = "DirectiveCycles"
    /// Each directive that is used is defined, and allowed at its place.
    case knownDirectives = "KnownDirectives"
    /// A directive is used once at a place, unless it is repeatable.
    case uniqueDirectivesPerLocation = "UniqueDirectivesPerLocation"
    /// A directive has each argument that is given.
    case knownArgumentNames = "KnownArgumentNames"
    /// An argument is given once.
    case uniqueArgumentNames = "UniqueArgumentNames"
    /// Each required argument of a directive is given.
    case providedRequiredArguments = "ProvidedRequiredArguments"
    /// An argument of a directive has a value of its type.
    case valuesOfCorrectType = "ValuesOfCorrectType"
  }

  /// The rule that the schema violates.
  public let rule: Rule
  /// The part of the schema, as a schema coordinate: `Book`, `Book.title`, `Query.books(first:)` or `@key(fields:)`; empty for the schema.
  public let coordinate: String
  /// The description of the fault, and what to do.
  public let message: String
  /// The place of the fault; nil if the schema is not from a text.
  public let location: Schema.Location?

  init(_ rule: Rule, _ coordinate: String, _ message: String, at location: Schema.Location?) {
    self.rule = rule
    self.coordinate = coordinate
    self.message = message
    self.location = location
  }

  /// The problem in one line, as compilers write it: `file:line:column: error: message [rule]`.
  public var description: String {
    (location.map { "\($0): " } ?? "") + "error: \(message) [\(rule.rawValue)]"
  }
}
