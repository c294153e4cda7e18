internal import CarabinerSchema

/// The fragments of a selection set that do not hold in its scope, by what they need.
struct ViewRegistry {
  struct Key: Hashable {
    /// Nil for each type.
    let type: String?
    let conditions: [Condition]
  }

  struct View {
    let type: Schema.NamedType?
    let conditions: [Condition]
    var nodes: [SelectionNode]
  }

  private(set) var views: [View] = []
  /// Inline fragments with `@defer` by label.
  private(set) var deferred: [(label: String, selections: SelectionList)] = []
  private var positions: [Key: Int] = [:]

  mutating func add(_ node: FragmentNode, _ type: Schema.NamedType?, _ conditions: [Condition]) {
    let key = Key(type: type?.name, conditions: conditions)
    if let position = positions[key] { return views[position].nodes.append(.fragment(node)) }
    positions[key] = views.count
    views.append(View(type: type, conditions: conditions, nodes: [.fragment(node)]))
  }

  mutating func add(deferred selections: SelectionList, label: String) {
    if !deferred.contains(where: { $0.label == label }) { deferred.append((label, selections)) }
  }
}
