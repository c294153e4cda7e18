/// The root records of operations.
package enum RootRecord: String, Sendable, CaseIterable {
  case query = "QUERY_ROOT"
  case mutation = "MUTATION_ROOT"
  case subscription = "SUBSCRIPTION_ROOT"

  /// The type of the record in policies.
  package var typeName: String {
    switch self {
    case .query: "Query"
    case .mutation: "Mutation"
    case .subscription: "Subscription"
    }
  }
}
