internal import CarabinerSchema
internal import CarabinerWire

/// Adds the fields to a document that a store needs to recognise objects: `__typename`, and the key fields of known types.
///
/// Without a schema, only the key fields in the policy are added, and only to fragments on their type, because a server rejects fields
/// that a type does not have.
struct DocumentCompletion {
  private let policy: CacheKeyPolicy
  /// Response names that are aliases of other fields in the document. Adding the field itself would be a conflict.
  private var taken: Set<String> = []
  private var rootTypes: Set<String> = ["Query", "Mutation", "Subscription"]
  private var hasChanged = false

  /// The completed document; nil if nothing is missing, or if the document cannot be read.
  static func completed(_ document: String, policy: CacheKeyPolicy) -> String? {
    guard let parsed = try? GraphQLDocument(parsing: document) else { return nil }
    var completion = DocumentCompletion(policy: policy)
    return completion.completed(parsed)
  }

  private init(policy: CacheKeyPolicy) {
    self.policy = policy
    guard let schema = policy.storeSchema else { return }
    rootTypes = Set([.query, .mutation, .subscription].map { schema.rootType(of: $0) })
  }

  private mutating func completed(_ document: GraphQLDocument) -> String? {
    for definition in document.definitions {
      switch definition {
      case .operation(let operation): noteLabels(operation.selectionSet)
      case .fragment(let fragment): noteLabels(fragment.selectionSet)
      }
    }
    var document = document
    for place in document.definitions.indices {
      switch document.definitions[place] {
      case .operation(var operation):
        let type = policy.storeSchema.map { $0.rootType(of: operation.type) }
        operation.selectionSet = completed(operation.selectionSet, of: type, isObject: false)
        document.definitions[place] = .operation(operation)
      case .fragment(var fragment):
        fragment.selectionSet = completed(fragment.selectionSet, of: fragment.typeCondition, isObject: false)
        document.definitions[place] = .fragment(fragment)
      }
    }
    return hasChanged ? document.description : nil
  }

  private mutating func noteLabels(_ selections: [GraphQLDocument.Selection]) {
    for selection in selections {
      switch selection {
      case .field(let field):
        if field.responseKey != field.name || !field.arguments.isEmpty { taken.insert(field.responseKey) }
        noteLabels(field.selectionSet)
      case .inlineFragment(let fragment): noteLabels(fragment.selectionSet)
      case .fragmentSpread: break
      }
    }
  }

  /// A selection set with the missing fields.
  ///
  /// - Parameters:
  ///   - type: The type of the objects; nil if it is not known.
  ///   - isObject: Whether the set belongs to a field, so that the type of its objects must be selected here. A fragment belongs
  ///     to the objects of the surrounding field.
  private mutating func completed(
    _ selections: [GraphQLDocument.Selection], of type: String?, isObject: Bool
  ) -> [GraphQLDocument.Selection] {
    var selections = selections
    for place in selections.indices {
      switch selections[place] {
      case .field(var field):
        guard !field.selectionSet.isEmpty, !field.name.hasPrefix("__") else { continue }
        let child = type.flatMap { policy.storeSchema?.field(field.name, of: $0)?.type.name }
        field.selectionSet = completed(field.selectionSet, of: child, isObject: true)
        selections[place] = .field(field)
      case .inlineFragment(var fragment):
        fragment.selectionSet = completed(fragment.selectionSet, of: fragment.typeCondition ?? type, isObject: false)
        selections[place] = .inlineFragment(fragment)
      case .fragmentSpread: break
      }
    }
    var missing = isObject ? ["__typename"] : []
    if let type, !rootTypes.contains(type) { missing += keyFields(of: type) }
    for name in missing where !taken.contains(name) && !Self.has(name, selections) {
      selections.append(.field(GraphQLDocument.Field(name: name)))
      hasChanged = true
    }
    return selections
  }

  private static func has(_ name: String, _ selections: [GraphQLDocument.Selection]) -> Bool {
    selections.contains { selection in
      guard case .field(let field) = selection else { return false }
      return field.name == name && field.arguments.isEmpty && field.directives.isEmpty
    }
  }

  /// The key fields that a type is known to have.
  private func keyFields(of type: String) -> [String] {
    guard let schema = policy.storeSchema else { return policy.keyFields[type] ?? [] }
    let names = policy.keyFields(of: type)
    return names.allSatisfy { schema.field($0, of: type)?.needsNoArguments == true } ? names : []
  }
}
