public import Carabiner
internal import Dispatch

extension ApolloClient {
  /// How many results of ``results(of:cachePolicy:)`` wait for their reader.
  public static let maximumWaitingResults = 1000

  /// Fetches a query and returns its first result.
  ///
  /// - Throws: The error of the request; `CancellationError` if the task was cancelled.
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, context: (any RequestContext)? = nil
  ) async throws -> GraphQLResult<Query.Data> {
    try await AsyncCall().result { finish in
      self.fetch(query: query, cachePolicy: cachePolicy, context: context, queue: .global(), resultHandler: finish)
    }
  }

  /// Runs a mutation and returns its result.
  ///
  /// - Throws: The error of the request; `CancellationError` if the task was cancelled.
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, publishResultToStore: Bool = true, context: (any RequestContext)? = nil
  ) async throws -> GraphQLResult<Mutation.Data> {
    try await AsyncCall().result { finish in
      self.perform(
        mutation: mutation, publishResultToStore: publishResultToStore, context: context, queue: .global(), resultHandler: finish)
    }
  }

  /// Runs an operation of any kind and returns its results. To cancel it, release the stream.
  ///
  /// The stream ends with the first error. It fails if ``maximumWaitingResults`` results wait for their reader.
  public func results<Operation: GraphQLOperation>(
    of operation: Operation, cachePolicy: CachePolicy = .default
  ) -> AsyncThrowingStream<GraphQLResult<Operation.Data>, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: GraphQLResult<Operation.Data>.self, bufferingPolicy: .bufferingOldest(Self.maximumWaitingResults))
    // The completion keeps it, so it is released when no result can follow.
    let end = StreamEnd { continuation.finish() }
    let call = ClientStore.$current.withValue(store) {
      networkTransport.send(
        operation: operation, cachePolicy: cachePolicy, contextIdentifier: nil, context: nil, callbackQueue: .global()
      ) { result in
        withExtendedLifetime(end) {
          switch result {
          case .success(let value):
            if case .dropped = continuation.yield(value) { continuation.finish(throwing: SlowReaderError()) }
          case .failure(let error): continuation.finish(throwing: error)
          }
        }
      }
    }
    let kept = Transferred(call)
    continuation.onTermination = { reason in
      if case .cancelled = reason { kept.value.cancel() }
    }
    return stream
  }
}

/// The results of an operation were read more slowly than the server sent them.
public struct SlowReaderError: DescribedError, Sendable {
  public var description: String {
    "\(ApolloClient.maximumWaitingResults) results wait to be read; read the stream faster, or use a callback, which slows the server down"
  }
}

/// Ends a stream when it is released.
private final class StreamEnd: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  deinit { body() }
}
