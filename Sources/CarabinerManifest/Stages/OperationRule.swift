package import Carabiner

extension Manifest {
  /// Other lists for some operations.
  package struct Rule: Sendable, Hashable {
    /// The names it is for; empty for all.
    package var operations: [Glob] = []
    /// The types it is for; empty for all.
    package var types: Set<GraphQLOperationType> = []
    /// What it puts in place of the chain's lists.
    package var lists: Lists

    /// A rule for all operations.
    package init(lists: Lists) { self.lists = lists }

    /// Whether an operation falls under it; one without a name has the empty name.
    package func matches(_ name: String?, _ type: GraphQLOperationType) -> Bool {
      (types.isEmpty || types.contains(type)) && (operations.isEmpty || operations.contains { $0.matches(name ?? "") })
    }
  }
}
