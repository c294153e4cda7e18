internal import FoundationEssentials

/// The results of an operation, again whenever something they are made of changes in the store; it ends with its task.
///
/// Changes that come while nobody asks are told as one. Two equal results do not follow each other.
public struct WatchedResults<Operation: GraphQLOperation>: AsyncSequence, Sendable {
  public typealias Element = GraphQLResponse<Operation>

  let operation: Operation
  let store: ApolloStore
  /// Brings results from elsewhere, first for the beginning and then when the store lacks something; nil to wait for the store.
  let fetch: (@Sendable (_ isFirst: Bool) throws -> PullStream<GraphQLResponse<Operation>>)?

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Brings the results one by one.
  public struct Iterator: AsyncIteratorProtocol {
    private let results: WatchedResults
    private let watcher: StoreWatcher
    private var signals: AsyncStream<Void>.Iterator
    private var fetching: PullStream<GraphQLResponse<Operation>>?
    private var isFirst = true
    private var lastData: Data?

    init(_ results: WatchedResults) {
      self.results = results
      watcher = StoreWatcher(results.store)
      signals = watcher.signals.makeAsyncIterator()
    }

    /// The next result; nil once the task is cancelled.
    ///
    /// - Throws: What the store or a fetch throws; asking on continues after that.
    public mutating func next() async throws -> GraphQLResponse<Operation>? {
      if isFirst {
        isFirst = false
        if let fetch = results.fetch {
          fetching = try fetch(true)
        } else if let response = try await changed() {
          return response
        }
      }
      while !Task.isCancelled {
        if let response = try await fetched() { return response }
        guard await signals.next(isolation: #isolation) != nil else { return nil }
        if let response = try await changed() { return response }
      }
      return nil
    }

    /// The next result of a fetch that is under way.
    private mutating func fetched() async throws -> GraphQLResponse<Operation>? {
      guard let stream = fetching else { return nil }
      do {
        let response: GraphQLResponse<Operation>
        switch try await stream.pull() {
        case .element(let next): response = next
        case .last(let next):
          fetching = nil
          response = next
        case .end:
          fetching = nil
          return nil
        }
        // What the store made of it is what later changes are compared with.
        watcher.depend(on: nil)
        if let stored = try await read() { lastData = stored.body.data }
        return response
      } catch {
        fetching = nil
        throw error
      }
    }

    /// The result as the store has it now, if it is another than the last; a fetch is begun if something is missing.
    private mutating func changed() async throws -> GraphQLResponse<Operation>? {
      watcher.depend(on: nil)
      guard let response = try await read() else {
        lastData = nil
        guard let fetch = results.fetch else { return nil }
        fetching = try fetch(false)
        return try await fetched()
      }
      guard response.body.data != lastData else { return nil }
      lastData = response.body.data
      return response
    }

    private func read() async throws -> GraphQLResponse<Operation>? {
      let reading = try await results.store.reading(results.operation)
      watcher.depend(on: reading?.dependentKeys)
      return reading?.response
    }
  }
}
