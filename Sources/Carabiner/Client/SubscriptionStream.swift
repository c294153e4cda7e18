/// The results of a subscription, and where it is.
///
/// Leaving it, or cancelling the task that reads it, ends the subscription. Results are read by one task at a time; the state may
/// be looked at from anywhere.
public struct SubscriptionStream<Operation: GraphQLOperation>: AsyncSequence, Sendable {
  public typealias Element = GraphQLResponse<Operation>

  /// The results, for those who want to map them or to pull one by one.
  public let results: PullStream<GraphQLResponse<Operation>>
  private let progress: SubscriptionProgress

  /// Results whose state is told by `progress`.
  init(_ results: PullStream<GraphQLResponse<Operation>>, _ progress: SubscriptionProgress) {
    let closing = ClosingProgress(progress)
    self.progress = progress
    self.results = PullStream {
      do {
        let step = try await results.pull()
        switch step {
        case .element: break
        case .last, .end: closing.progress.finish(.completed)
        }
        return step
      } catch {
        closing.progress.finish(error is CancellationError ? .cancelled : .failed(error))
        throw error
      }
    }
  }

  /// Where the subscription is now.
  public var state: SubscriptionState { progress.state }

  /// Why the subscription finished; nil until it has.
  public var end: SubscriptionEnd? { progress.end }

  /// The state now and every later one; ends when the subscription has.
  public var states: AsyncStream<SubscriptionState> { progress.states }

  public func makeAsyncIterator() -> PullStream<GraphQLResponse<Operation>>.Iterator { results.makeAsyncIterator() }
}

/// Finishes a subscription when its stream is released.
private final class ClosingProgress: Sendable {
  let progress: SubscriptionProgress

  init(_ progress: SubscriptionProgress) { self.progress = progress }

  deinit { progress.finish(.cancelled) }
}
