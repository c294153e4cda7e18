internal import CarabinerSchema
internal import CarabinerWire

/// The fields of object types that documents select.
struct MockFields {
  /// A selected field.
  struct Field {
    let node: FieldNode
    let definition: Schema.Field
  }

  /// The object types that selections can return, in the order of the schema.
  let objects: [Schema.NamedType]
  private let schema: Schema
  /// The selected fields by the name of the type of the selection.
  private var selected: [String: [FieldNode]] = [:]
  /// For each object type, the types of the selections that apply to it.
  private var conditions: [String: [String]] = [:]

  init(_ definitions: Definitions, schema: Schema) {
    self.schema = schema
    var waiting = definitions.operations.map { ($0.selections, schema.rootType(of: $0.definition.type)) }
    waiting += definitions.fragments.map { ($0.selections, schema.type(named: $0.definition.typeCondition)) }
    var known: Set<String> = []
    var next = 0
    while next < waiting.count {
      let (list, type) = waiting[next]
      next += 1
      guard let type else { continue }
      selected[type.name, default: []] += []
      for selection in list.selections {
        switch selection {
        case .field(let node):
          if known.insert("\(type.name).\(node.responseKey):\(node.name)").inserted { selected[type.name]?.append(node) }
          guard let list = node.selections, let field = type.field(named: node.name) else { continue }
          waiting.append((list, schema.type(of: field.type)))
        case .fragment(let fragment):
          guard let list = fragment.selections else { continue }
          waiting.append((list, fragment.typeCondition.map { schema.type(named: $0) } ?? type))
        }
      }
    }
    for name in selected.keys.sorted() {
      guard let type = schema.type(named: name) else { continue }
      for object in schema.possibleTypes(of: type) { conditions[object.name, default: []].append(name) }
    }
    objects = schema.types.filter { [conditions] in conditions[$0.name] != nil }
  }

  /// The fields of an object, sorted by response key. If several fields have the same response key, the one with this name comes
  /// first.
  func fields(of object: Schema.NamedType) -> [[Field]] {
    var fields: [String: [Field]] = [:]
    for node in (conditions[object.name] ?? []).flatMap({ selected[$0] ?? [] }) where node.responseKey != "__typename" {
      guard let definition = schema.field(node.name, selectedOn: object) else { continue }
      if fields[node.responseKey]?.contains(where: { $0.node.name == node.name }) == true { continue }
      fields[node.responseKey, default: []].append(Field(node: node, definition: definition))
    }
    return fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { key, fields in
      fields.sorted { ($0.node.name == key ? "" : $0.node.name) < ($1.node.name == key ? "" : $1.node.name) }
    }
  }
}
