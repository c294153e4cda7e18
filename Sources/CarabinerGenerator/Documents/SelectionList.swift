/// A selection set of a document, with conditions in a form that can be compared.
final class SelectionList: Sendable {
  /// A number that no other selection set has.
  let id: Int
  let selections: [SelectionNode]

  init(id: Int, _ selections: [SelectionNode]) {
    self.id = id
    self.selections = selections
  }
}

/// A selection.
enum SelectionNode: Sendable {
  case field(FieldNode)
  case fragment(FragmentNode)
}

/// A selected field.
struct FieldNode: Sendable {
  let responseKey: String
  let name: String
  let conditions: [Condition]
  /// Nil for a scalar.
  let selections: SelectionList?
  let place: SourcePlace
}

/// An inline fragment, or a spread of a named one.
struct FragmentNode: Sendable {
  /// The name of a spread; nil for an inline fragment.
  let name: String?
  /// The type of an inline fragment; nil for any, and for a spread.
  let typeCondition: String?
  let conditions: [Condition]
  /// The label or the name of a fragment with `@defer`; nil without it.
  let deferral: String?
  /// The selections of an inline fragment; nil for a spread.
  let selections: SelectionList?
  let place: SourcePlace
}

/// `@include(if: $variable)`, or `@skip(if: $variable)`.
struct Condition: Sendable, Hashable {
  let variable: String
  let isSkip: Bool

  var opposite: Condition { Condition(variable: variable, isSkip: !isSkip) }
}
