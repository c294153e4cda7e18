internal import CarabinerWire

/// An operation or a fragment of a document that is checked.
struct DefinitionPart {
  /// Nil for a fragment.
  let operation: Schema.OperationType?
  let name: String?
  let offset: Int
  let nameOffset: Int
  var variables: [VariablePart] = []
  /// The variables that its own selection sets use, not those of the fragments that it spreads.
  var uses: [VariableUse] = []
  var spreads: [SpreadPart] = []
  /// The uses of `@defer` and `@stream` that cannot be switched off.
  var incremental: [Int] = []
  /// The number of its selection set.
  var set = 0
}

/// A variable that an operation declares.
struct VariablePart {
  let name: String
  let offset: Int
  let nameOffset: Int
  /// Nil if the schema does not define the type.
  let type: Schema.TypeReference?
  /// Whether its default value makes null impossible.
  let hasDefault: Bool
}

/// A use of a variable.
struct VariableUse {
  let name: String
  let offset: Int
  /// The type of the place; nil if it is not known.
  let type: Schema.TypeReference?
  /// Whether the place has a default value.
  let hasDefault: Bool
  /// Whether it is a field of an input object with `@oneOf`.
  let isOneOf: Bool
}

/// A spread of a fragment that the document defines.
struct SpreadPart {
  /// The number of the fragment among the definitions of the document.
  let fragment: Int
  let offset: Int
}

/// A selection set.
struct SelectionSetPart {
  /// The type of its fields; nil if it is not known.
  let type: Schema.NamedType?
  let offset: Int
  var selections: [SelectionPart] = []
}

/// A selection, with the places of `@skip` and `@include`.
struct SelectionPart {
  enum Kind {
    /// The number of a field.
    case field(Int)
    /// The number of a fragment among the definitions.
    case spread(Int)
    /// The number of the selection set of an inline fragment.
    case inline(Int)
  }

  let kind: Kind
  let conditions: [Int]
}

/// A selected field.
struct FieldPart {
  let responseKey: String
  let name: String
  let offset: Int
  /// The type of its selection set; nil if it is not known.
  let parent: Schema.NamedType?
  /// Its type in the schema; nil if it is not known.
  let type: Schema.TypeReference?
  /// Two fields of one name with equal texts of arguments and `@stream` have the same value.
  let arguments: String
  let stream: String?
  /// The number of its selection set; nil if it has none.
  let set: Int?
}
