/// The results and the state of a subscription.
///
/// To end the subscription, release the stream or cancel the task that reads it. Only one task may read results at a time. Any task
/// may read the state.
public struct SubscriptionStream<Operation: GraphQLOperation>: AsyncSequence, Sendable {
  public typealias Element = GraphQLResponse<Operation>

  /// The results as a stream that can be mapped.
  public let results: PullStream<GraphQLResponse<Operation>>
  private let progress: SubscriptionProgress

  /// Results whose state is kept in `progress`.
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

  /// The current state of the subscription.
  public var state: SubscriptionState { progress.state }

  /// The reason why the subscription finished; nil before that.
  public var end: SubscriptionEnd? { progress.end }

  /// The current state and all later ones, until the subscription has finished.
  public var states: AsyncStream<SubscriptionState> { progress.states }

  public func makeAsyncIterator() -> PullStream<GraphQLResponse<Operation>>.Iterator { results.makeAsyncIterator() }
}

/// Finishes a subscription when its stream is released.
private final class ClosingProgress: Sendable {
  let progress: SubscriptionProgress

  init(_ progress: SubscriptionProgress) { self.progress = progress }

  deinit { progress.finish(.cancelled) }
}
