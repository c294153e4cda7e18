internal import CarabinerSchema
internal import CarabinerWire

/// An operation of a document.
struct OperationNode: Sendable {
  let name: String
  let definition: GraphQLDocument.OperationDefinition
  let selections: SelectionList
  let place: SourcePlace
  /// The places of its variables, in order.
  let variables: [SourcePlace]

  /// The place of a variable.
  func place(of variable: String) -> SourcePlace {
    let position = definition.variables.firstIndex { $0.name == variable }
    return position.flatMap { variables.indices.contains($0) ? variables[$0] : nil } ?? place
  }

  /// Whether it changes the store only, and is never sent.
  var isLocal: Bool { definition.directives.contains { DocumentSet.localMutation == $0.name } }
}

/// A named fragment of a document.
struct FragmentDefinitionNode: Sendable {
  let name: String
  let definition: GraphQLDocument.FragmentDefinition
  let selections: SelectionList
  let place: SourcePlace

  /// Whether it is for changes of the store.
  var isLocal: Bool { definition.directives.contains { DocumentSet.localMutation == $0.name } }
}

/// The definitions of all documents.
struct Definitions: Sendable {
  var operations: [OperationNode] = []
  /// The fragments, in the order of the documents.
  var fragments: [FragmentDefinitionNode] = []
  var fragmentsByName: [String: FragmentDefinitionNode] = [:]

  /// The fields of all selection sets, with those inside of fields and inline fragments.
  var fields: [GraphQLDocument.Field] {
    var fields: [GraphQLDocument.Field] = []
    var waiting = operations.map(\.definition.selectionSet) + fragments.map(\.definition.selectionSet)
    while let selections = waiting.popLast() {
      for selection in selections {
        switch selection {
        case .field(let field):
          fields.append(field)
          waiting.append(field.selectionSet)
        case .inlineFragment(let fragment): waiting.append(fragment.selectionSet)
        case .fragmentSpread: break
        }
      }
    }
    return fields
  }
}
