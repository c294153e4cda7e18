public import CarabinerWire

/// A fault of a document that can be parsed but is not valid.
public struct DocumentProblem: Sendable, Hashable, CustomStringConvertible {
  /// The rule that the document violates. Names are those of graphql-js.
  public enum Rule: String, Sendable, Hashable, CaseIterable {
    /// Operations have different names.
    case uniqueOperationNames = "UniqueOperationNames"
    /// An operation without a name is the only one.
    case loneAnonymousOperation = "LoneAnonymousOperation"
    /// The schema has a root type for each operation.
    case knownOperationTypes = "KnownOperationTypes"
    /// A subscription selects one field.
    case singleFieldSubscriptions = "SingleFieldSubscriptions"
    /// Each type that is named is defined.
    case knownTypeNames = "KnownTypeNames"
    /// A fragment is on an object type, an interface or a union.
    case fragmentsOnCompositeTypes = "FragmentsOnCompositeTypes"
    /// A variable has a type for values.
    case variablesAreInputTypes = "VariablesAreInputTypes"
    /// A field has a selection set if its type has fields, and only then.
    case scalarLeafs = "ScalarLeafs"
    /// A field exists on the type of its selection set.
    case fieldsOnCorrectType = "FieldsOnCorrectType"
    /// Fragments have different names.
    case uniqueFragmentNames = "UniqueFragmentNames"
    /// A fragment that is spread is defined.
    case knownFragmentNames = "KnownFragmentNames"
    /// Each fragment is used.
    case noUnusedFragments = "NoUnusedFragments"
    /// An object can be of both the type of a fragment and that of its surroundings.
    case possibleFragmentSpreads = "PossibleFragmentSpreads"
    /// A fragment does not contain itself.
    case noFragmentCycles = "NoFragmentCycles"
    /// The variables of an operation have different names.
    case uniqueVariableNames = "UniqueVariableNames"
    /// A variable that is used is declared.
    case noUndefinedVariables = "NoUndefinedVariables"
    /// Each variable is used.
    case noUnusedVariables = "NoUnusedVariables"
    /// Each directive is defined, and allowed at its place.
    case knownDirectives = "KnownDirectives"
    /// A directive is used once at a place, unless it is repeatable.
    case uniqueDirectivesPerLocation = "UniqueDirectivesPerLocation"
    /// `@defer` and `@stream` are not on the root fields of mutations and subscriptions.
    case deferStreamDirectiveOnRootField = "DeferStreamDirectiveOnRootField"
    /// `@defer` and `@stream` are not used in subscriptions, unless they can be switched off.
    case deferStreamDirectiveOnValidOperations = "DeferStreamDirectiveOnValidOperations"
    /// The labels of `@defer` and `@stream` are constant and different.
    case deferStreamDirectiveLabel = "DeferStreamDirectiveLabel"
    /// `@stream` is on lists only.
    case streamDirectiveOnListField = "StreamDirectiveOnListField"
    /// A field or directive has each argument that is given.
    case knownArgumentNames = "KnownArgumentNames"
    /// An argument is given once.
    case uniqueArgumentNames = "UniqueArgumentNames"
    /// A value is one of its type.
    case valuesOfCorrectType = "ValuesOfCorrectType"
    /// Each required argument is given.
    case providedRequiredArguments = "ProvidedRequiredArguments"
    /// The type of a variable fits each place where it is used.
    case variablesInAllowedPosition = "VariablesInAllowedPosition"
    /// Fields with one name in the result are the same field.
    case overlappingFieldsCanBeMerged = "OverlappingFieldsCanBeMerged"
    /// A field of an input object is given once.
    case uniqueInputFieldNames = "UniqueInputFieldNames"
    /// The document is within the limit of steps that comparing its fields and variables may take.
    case documentComplexity = "DocumentComplexity"
  }

  /// The rule that the document violates.
  public let rule: Rule
  /// The description of the fault, and what to do.
  public let message: String
  /// The places of the parts that do not fit, in the order in which graphql-js names them.
  public let locations: [GraphQLPlaces.Place]

  /// The problem in one line, as compilers write it: `line:column: error: message [rule]`.
  public var description: String {
    (locations.first.map { "\($0.line):\($0.column): " } ?? "") + "error: \(message) [\(rule.rawValue)]"
  }
}
