/// A server ended a subscription with errors that belong to no result.
public struct SubscriptionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What the server says.
  public let errors: [GraphQLError]

  /// An error that says this.
  public init(errors: [GraphQLError]) { self.errors = errors }

  public var description: String {
    "the server ended the subscription: \(errors.map(\.description).joined(separator: "; "))"
  }
}
