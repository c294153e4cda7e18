/// A server ended a subscription with errors that belong to no result.
public struct SubscriptionError: DescribedError, Sendable, Hashable {
  /// The errors of the server.
  public let errors: [GraphQLError]

  /// An error with these errors of the server.
  public init(errors: [GraphQLError]) { self.errors = errors }

  public var description: String {
    "the server ended the subscription: \(errors.map(\.description).joined(separator: "; "))"
  }
}
