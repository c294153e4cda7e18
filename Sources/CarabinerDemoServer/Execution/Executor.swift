internal import CarabinerSchema
internal import CarabinerWire

/// Executes a plan against the library.
///
/// Fields are computed one after the other, in order. Deferred fragments wait in ``deferred`` until ``nextPart()`` is called.
struct Executor: Sendable {
  /// A fragment that is computed later, with its object.
  struct DeferredFragment: Sendable {
    let fragment: PlannedFragment
    let object: LibraryObject
    let path: [JSONValue]
  }

  private let library: Library
  private let context: RequestContext
  private let maximumValues: Int
  /// Whether deferred fragments wait. If not, they are computed with the other fields.
  private let defers: Bool
  private var problems: [GraphQLProblem] = []
  private var values = 0
  private(set) var deferred: [DeferredFragment] = []

  init(library: Library, context: RequestContext, defers: Bool = false, limits: RequestLimits = RequestLimits()) {
    self.library = library
    self.context = context
    self.defers = defers
    maximumValues = limits.values
  }

  /// The result of a plan, or its first part.
  mutating func result(of plan: RequestPlan, on root: LibraryObject) async -> JSONObject {
    problems = []
    var response = JSONObject()
    do {
      response["data"] = .object(try await object(root, plan.selections, at: []))
    } catch {
      deferred = []
      response["data"] = .null
    }
    if !problems.isEmpty { response["errors"] = .array(problems.map(\.json)) }
    return response
  }

  /// The next deferred part, as an entry of `incremental`; nil if there is none.
  mutating func nextPart() async -> JSONObject? {
    guard !deferred.isEmpty else { return nil }
    let next = deferred.removeFirst()
    let waiting = deferred.count
    problems = []
    var part = JSONObject()
    do {
      part["data"] = .object(try await object(next.object, next.fragment.selections, at: next.path))
    } catch {
      deferred.removeSubrange(waiting...)
      part["data"] = .null
    }
    part["path"] = .array(next.path)
    if let label = next.fragment.deferral?.label { part["label"] = .string(label) }
    if !problems.isEmpty { part["errors"] = .array(problems.map(\.json)) }
    return part
  }

  /// A non-null value is null, so its parent becomes null.
  private struct Bubble: Error {}

  private mutating func object(
    _ object: LibraryObject, _ selections: [PlannedSelection], at path: [JSONValue]
  ) async throws(Bubble) -> JSONObject {
    let groups = FieldGroups(selections, for: object.typeName, includingDeferred: !defers)
    var members = JSONObject()
    for fields in groups.fields {
      guard let field = fields.first else { continue }
      members[field.responseKey] = try await self.field(
        field, fields.flatMap(\.selections), of: object, at: path + [.string(field.responseKey)])
    }
    deferred += groups.deferred.map { DeferredFragment(fragment: $0, object: object, path: path) }
    return members
  }

  private mutating func field(
    _ field: PlannedField, _ selections: [PlannedSelection], of object: LibraryObject, at path: [JSONValue]
  ) async throws(Bubble) -> JSONValue {
    let type = field.definition.type.documentType
    var value = FieldValue.null
    if field.definition.name == "__typename" {
      value = .leaf(.string(object.typeName))
    } else {
      do {
        value = try await library.value(
          of: field.definition.name, in: object, arguments: field.arguments, context: context)
      } catch {
        problems.append(GraphQLProblem(message: error.message, locations: [field.place], path: path, code: error.code))
        if type.isNonNull { throw Bubble() }
        return .null
      }
    }
    return try await complete(value, as: type, field, selections, at: path)
  }

  /// The value completed to its type. An error makes the nearest nullable parent null.
  private mutating func complete(
    _ value: FieldValue, as type: GraphQLDocument.TypeReference, _ field: PlannedField, _ selections: [PlannedSelection],
    at path: [JSONValue]
  ) async throws(Bubble) -> JSONValue {
    if case .nonNull(let inner) = type {
      let result = try await present(value, as: inner, field, selections, at: path)
      if result.isNull {
        problems.append(
          GraphQLProblem(
            message: "\(field.definition.name) is null and must not be", locations: [field.place], path: path,
            code: "INTERNAL_SERVER_ERROR"))
        throw Bubble()
      }
      return result
    }
    let waiting = deferred.count
    do {
      return try await present(value, as: type, field, selections, at: path)
    } catch {
      // The object is null, so its deferred fragments are discarded.
      deferred.removeSubrange(waiting...)
      return .null
    }
  }

  private mutating func present(
    _ value: FieldValue, as type: GraphQLDocument.TypeReference, _ field: PlannedField, _ selections: [PlannedSelection],
    at path: [JSONValue]
  ) async throws(Bubble) -> JSONValue {
    values += 1
    guard values <= maximumValues else {
      if values == maximumValues + 1 {
        problems.append(
          GraphQLProblem(
            message: "the result has more than \(maximumValues) values; ask for less", locations: [field.place], path: path,
            code: "TOO_COMPLEX"))
      }
      throw Bubble()
    }
    switch value {
    case .leaf(let leaf): return leaf
    case .object(let object): return .object(try await self.object(object, selections, at: path))
    case .list(let items):
      guard case .list(let elementType) = type else { return .null }
      var elements: [JSONValue] = []
      for (position, item) in items.enumerated() {
        elements.append(
          try await complete(item, as: elementType, field, selections, at: path + [.number(JSONNumber(position))]))
      }
      return .array(elements)
    }
  }
}
