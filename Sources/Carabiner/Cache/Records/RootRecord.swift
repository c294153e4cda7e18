/// The records operations begin at.
package enum RootRecord: String, Sendable, CaseIterable {
  case query = "QUERY_ROOT"
  case mutation = "MUTATION_ROOT"
  case subscription = "SUBSCRIPTION_ROOT"

  /// What policies call the record's type.
  package var typeName: String {
    switch self {
    case .query: "Query"
    case .mutation: "Mutation"
    case .subscription: "Subscription"
    }
  }
}
