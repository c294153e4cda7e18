package import Carabiner

extension Manifest {
  /// Lists and settings for some operations, which replace those of the chain.
  package struct Rule: Sendable, Hashable {
    /// Patterns of operation names; empty for all.
    package var operations: [Glob] = []
    /// The operation types; empty for all.
    package var types: Set<GraphQLOperationType> = []
    /// The paths of the gateway at which operations arrive; empty for all.
    package var paths: Set<String> = []
    /// The lists that replace those of the chain.
    package var lists: Lists
    /// The time limit instead of the host's; nil if another rule or the host decides.
    package var timeout: Duration?
    /// The name of the upstream; nil if another rule decides, or ``Manifest/mainUpstream``.
    package var upstream: String?

    /// A rule for all operations.
    package init(lists: Lists) { self.lists = lists }

    /// Whether the rule applies to an operation. An operation without a name has the empty name.
    ///
    /// - Parameter path: The path of the gateway at which it arrived; nil if it did not arrive at a gateway.
    package func matches(_ name: String?, _ type: GraphQLOperationType, path: String? = nil) -> Bool {
      (types.isEmpty || types.contains(type)) && (paths.isEmpty || path.map(paths.contains) == true)
        && (operations.isEmpty || operations.contains { $0.matches(name ?? "") })
    }
  }
}
