internal import CarabinerWire

/// An operation that fits the schema, its fragments in place, its arguments computed, what is skipped left out.
struct RequestPlan: Sendable {
  let type: GraphQLDocument.OperationDefinition.OperationType
  let selections: [PlannedSelection]
  /// Whether something in it is deferred.
  let isDeferred: Bool
}

/// A part of a planned selection set.
enum PlannedSelection: Sendable {
  case field(PlannedField)
  case fragment(PlannedFragment)
}

/// A field that is asked for.
struct PlannedField: Sendable {
  let responseKey: String
  let definition: FieldDefinition
  let arguments: JSONObject
  let place: GraphQLPlaces.Place
  var selections: [PlannedSelection]
}

/// Selections for objects of some types.
struct PlannedFragment: Sendable {
  /// The object types they are for.
  let types: [String]
  /// Set if they may come later than the rest.
  let deferral: Deferral?
  let selections: [PlannedSelection]
}

/// `@defer`.
struct Deferral: Sendable {
  let label: String?
}

/// How large a request may be.
struct RequestLimits: Sendable {
  /// How deep selection sets may be nested, fragments included.
  var depth = 20
  /// How many fields may be asked for, those of a fragment counted wherever it is used.
  var fields = 1000
  /// How many values a result may have.
  var values = 50_000
}
