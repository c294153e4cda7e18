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
    let end = ContinuousClock.now + timeout
    let hasBegun = Atomic(false)
    let name = operation.operationName ?? "the subscription"
    return PullStream {
      if hasBegun.exchange(true, ordering: .relaxed) { return try await results.pull() }
      return try await withThrowingTaskGroup(of: PullStream<GraphQLResponse<Operation>>.Step?.self) { group in
        group.addTask { try await results.pull() }
        group.addTask {
          try await Task.sleep(until: end)
          return nil
        }
        defer { group.cancelAll() }
        guard let step = try await group.next(), let step else {
          throw RequestChainError(
            .timedOut, "\(name) had no result after \(timeout); raise the timeout of its rule, or check the server")
        }
        return step
      }
    }
  }
}
