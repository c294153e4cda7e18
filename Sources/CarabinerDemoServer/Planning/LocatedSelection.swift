internal import CarabinerWire

/// A selection with its place in the document.
struct LocatedSelection: Sendable {
  let selection: GraphQLDocument.Selection
  let place: GraphQLPlaces.Place
  let children: [LocatedSelection]

  /// The selection sets of a document's definitions, each part with its place.
  ///
  /// The list of places has the order of the text, which is also the order of this walk.
  static func all(in document: GraphQLDocument, _ places: GraphQLPlaces) -> [[LocatedSelection]] {
    var rest = places.selections[...]
    return document.definitions.map { definition in
      switch definition {
      case .operation(let operation): located(operation.selectionSet, &rest)
      case .fragment(let fragment): located(fragment.selectionSet, &rest)
      }
    }
  }

  private static func located(
    _ selections: [GraphQLDocument.Selection], _ places: inout ArraySlice<GraphQLPlaces.Place>
  ) -> [LocatedSelection] {
    selections.map { selection in
      let place = places.popFirst() ?? GraphQLPlaces.Place(line: 1, column: 1)
      let children =
        switch selection {
        case .field(let field): located(field.selectionSet, &places)
        case .inlineFragment(let fragment): located(fragment.selectionSet, &places)
        case .fragmentSpread: [LocatedSelection]()
        }
      return LocatedSelection(selection: selection, place: place, children: children)
    }
  }
}
