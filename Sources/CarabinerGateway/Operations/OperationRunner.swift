package import Carabiner
package import NIOHTTP1

/// The chain operations run through at this moment.
package protocol OperationRunner: Sendable {
  /// Where operations run best: the transport's loop, so that none of them changes threads on its way.
  var executor: any TaskExecutor { get }

  /// Which header fields a client of a WebSocket may add in `connection_init`.
  var connectionInitHeaders: HeaderSelection { get }

  /// Begins an operation; whatever takes its place meanwhile, it keeps the chain it has begun with.
  ///
  /// - Parameters:
  ///   - headers: What the client sent; the runner knows which of it goes on.
  ///   - requestID: What the request is called; it goes on in place of what the client called it, if that would have.
  ///   - client: Who asks, by address.
  ///   - trace: The place in a trace; nil if there is none.
  func begin(
    _ operation: DynamicOperation, headers: NIOHTTP1.HTTPHeaders, requestID: String, client: String, trace: RequestTrace?
  ) throws -> RunningOperation

  /// The plugin an operation failed by; nil if it was none.
  func culprit(of error: any Error) -> String?
}

/// An operation under way.
package struct RunningOperation: Sendable {
  /// Its results, as they come.
  package let results: PullStream<GraphQLResponse<DynamicOperation>>
  /// Which generation of the chain it runs through.
  package let generation: UInt64
  /// Which header fields of the upstream's answer go to the client.
  package let returnedHeaders: HeaderSelection
  /// Is called once, when nothing more is asked of it.
  package let ended: @Sendable (OperationOutcome) -> Void

  /// An operation that has begun.
  package init(
    results: PullStream<GraphQLResponse<DynamicOperation>>, generation: UInt64, returnedHeaders: HeaderSelection,
    ended: @escaping @Sendable (OperationOutcome) -> Void
  ) {
    self.results = results
    self.generation = generation
    self.returnedHeaders = returnedHeaders
    self.ended = ended
  }
}

/// How an operation ended.
package enum OperationOutcome: Sendable, Hashable {
  case succeeded
  /// There was a result, with errors in it.
  case hadErrors
  case failed(status: Int)
  case cancelled
}
