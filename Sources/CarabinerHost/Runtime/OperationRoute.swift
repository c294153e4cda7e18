internal import Carabiner
internal import Synchronization

/// The client and the time limit that the rules of a manifest choose for an operation.
struct OperationRoute: Sendable {
  /// The client for the operation's upstream.
  let client: ApolloClient
  /// The time limit; nil if no rule has one.
  let timeout: Duration?

  /// Limits the time to the first result of a subscription. The chain limits the time of all other operations.
  func limited<Operation: GraphQLOperation>(
    _ results: PullStream<GraphQLResponse<Operation>>, _ operation: Operation
  ) -> PullStream<GraphQLResponse<Operation>> {
    guard let timeout, operation.operationType == .subscription else { return results }
    let deadline = Deadline(after: timeout)
    let hasBegun = Atomic(false)
    let name = operation.operationName ?? "the subscription"
    return PullStream {
      if hasBegun.exchange(true, ordering: .relaxed) { return try await results.pull() }
      return try await deadline.bounding(
        RequestChainError(
          .timedOut, "\(name) had no result after \(timeout); raise the timeout of its rule, or check the server")
      ) { try await results.pull() }
    }
  }
}
