internal import CarabinerSchema
internal import CarabinerWire

/// A valid operation with fragments resolved, arguments computed, and skipped selections removed.
struct RequestPlan: Sendable {
  let type: GraphQLDocument.OperationDefinition.OperationType
  let selections: [PlannedSelection]
  /// Whether a part of the operation is deferred.
  let isDeferred: Bool
}

/// A part of a planned selection set.
enum PlannedSelection: Sendable {
  case field(PlannedField)
  case fragment(PlannedFragment)
}

/// A selected field.
struct PlannedField: Sendable {
  let responseKey: String
  let definition: Schema.Field
  let arguments: JSONObject
  let place: GraphQLPlaces.Place
  var selections: [PlannedSelection]
}

/// The selections of a fragment, for objects of some types.
struct PlannedFragment: Sendable {
  /// The object types that the fragment applies to.
  let types: [String]
  /// The deferral, if the selections may be returned later.
  let deferral: Deferral?
  let selections: [PlannedSelection]
}

/// `@defer`.
struct Deferral: Sendable {
  let label: String?
}

/// The limits of a request.
struct RequestLimits: Sendable {
  /// The deepest nesting of selection sets, including fragments.
  var depth = 20
  /// The most fields and fragments. Those inside a fragment count at each use.
  var fields = 1000
  /// The most values of a result.
  var values = 50_000
}
