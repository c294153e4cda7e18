package import Carabiner

extension Manifest {
  /// Other lists for some operations.
  package struct Rule: Sendable, Hashable {
    /// Patterns of operation names; empty for all.
    package var operations: [Glob] = []
    /// The operation types; empty for all.
    package var types: Set<GraphQLOperationType> = []
    /// The lists that replace those of the chain.
    package var lists: Lists

    /// A rule for all operations.
    package init(lists: Lists) { self.lists = lists }

    /// Whether the rule applies to an operation. An operation without a name has the empty name.
    package func matches(_ name: String?, _ type: GraphQLOperationType) -> Bool {
      (types.isEmpty || types.contains(type)) && (operations.isEmpty || operations.contains { $0.matches(name ?? "") })
    }
  }
}
