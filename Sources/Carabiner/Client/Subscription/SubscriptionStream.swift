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
    let end = SubscriptionEnd(progress)
    self.progress = progress
    self.results = PullStream {
      do {
        let step = try await results.pull()
        switch step {
        case .element: break
        case .last, .end: end.finish()
        }
        return step
      } catch {
        end.finish()
        throw error
      }
    }
  }

  /// Where the subscription is now.
  public var state: SubscriptionState { progress.state }

  /// The state now and every later one; ends when the subscription has.
  public var states: AsyncStream<SubscriptionState> { progress.states }

  public func makeAsyncIterator() -> PullStream<GraphQLResponse<Operation>>.Iterator { results.makeAsyncIterator() }
}

/// Finishes a subscription that nobody holds any more.
private final class SubscriptionEnd: Sendable {
  private let progress: SubscriptionProgress

  init(_ progress: SubscriptionProgress) { self.progress = progress }

  func finish() { progress.advance(to: .finished) }

  deinit { finish() }
}
