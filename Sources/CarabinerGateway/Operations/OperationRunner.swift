package import Carabiner
package import CarabinerWire

/// Runs operations through the current chain.
package protocol OperationRunner: Sendable {
  /// The preferred executor of operations: the transport's event loop, so that an operation does not change threads.
  var executor: any TaskExecutor { get }

  /// The header fields that a WebSocket client may add in `connection_init`.
  var connectionInitHeaders: HeaderSelection { get }

  /// Whether an endpoint of the main upstream is available.
  var hasAvailableUpstream: Bool { get }

  /// Starts an operation. It keeps the chain it was started with, also after a reload.
  ///
  /// - Parameters:
  ///   - headers: The client's fields. The runner selects those that are passed on.
  ///   - requestID: The request ID. It replaces the client's own, if that field is passed on.
  ///   - client: The IP address of the client.
  ///   - path: The path at which the operation arrived.
  ///   - forwarded: Fields about the client for the upstream; nil for none.
  ///   - trace: The operation's place in a trace; nil if it has none.
  ///   - sending: Notes whether the operation was sent; nil if the caller does not ask.
  ///   - takesPassedBody: Whether the caller takes a body, or results of a subscription, that are passed on.
  func begin(
    _ operation: DynamicOperation, headers: HTTPHeaders, requestID: String, client: String, path: String,
    forwarded: ForwardedFields?, trace: RequestTrace?, sending: SendingWatch?, takesPassedBody: Bool
  ) throws -> RunningOperation

  /// The plugin that caused an error; nil if none did.
  func culprit(of error: any Error) -> String?
}

extension OperationRunner {
  package var hasAvailableUpstream: Bool { true }
}

/// An operation in progress.
package struct RunningOperation: Sendable {
  /// The results of the operation.
  package let results: PullStream<GraphQLResponse<DynamicOperation>>
  /// The generation of the chain that runs it.
  package let generation: UInt64
  /// The header fields of the upstream's response that are passed to the client.
  package let returnedHeaders: HeaderSelection
  /// Called once, when no more results are read.
  package let ended: @Sendable (OperationOutcome) -> Void

  /// Creates an operation that has started.
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
  /// It had a result that contains errors.
  case hadErrors
  case failed(status: Int)
  case cancelled
}
