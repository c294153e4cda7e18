internal import CarabinerWire
internal import FoundationEssentials

/// The results of an operation: a new one whenever a field of the last one changes in the store.
///
/// The sequence ends when its task is cancelled. Several changes between two reads give one result. A change gives no result that
/// is equal to the last one. The watcher ignores the writes of its own requests.
public struct WatchedResults<Operation: GraphQLOperation>: AsyncSequence, Sendable {
  public typealias Element = GraphQLResponse<Operation>

  let operation: Operation
  let store: ApolloStore
  /// Whether the operation is sent to the server if a field is missing after a change by another writer.
  let refetches: Bool
  /// Runs the operation with the given policy, or with the policy of the first request if it is nil. The function is nil if the
  /// watcher only reads the store.
  let fetch: (@Sendable (CachePolicy?) throws -> PullStream<GraphQLResponse<Operation>>)?
  private let requests = RefetchRequests()

  init(
    operation: Operation, store: ApolloStore, refetches: Bool,
    fetch: (@Sendable (CachePolicy?) throws -> PullStream<GraphQLResponse<Operation>>)?
  ) {
    self.operation = operation
    self.store = store
    self.refetches = refetches
    self.fetch = fetch
  }

  /// Runs the operation again for each iterator, whose next result is that of the new request.
  ///
  /// A request under way ends first. Without a client, as for ``ApolloStore/watch(_:)``, it does nothing.
  ///
  /// - Parameter cachePolicy: The policy of the new request.
  public func refetch(cachePolicy: CachePolicy = .networkOnly) { requests.request(cachePolicy) }

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Returns the results one by one.
  public struct Iterator: AsyncIteratorProtocol {
    private let results: WatchedResults
    private let watcher: StoreWatcher
    private var signals: AsyncStream<Void>.Iterator
    private var fetching: PullStream<GraphQLResponse<Operation>>?
    private var isFirst = true
    private var lastData: Data?
    /// The fields of the last result, as `record.field`; nil before the first result with data.
    private var keys: Set<String>?

    init(_ results: WatchedResults) {
      self.results = results
      watcher = StoreWatcher(results.store)
      results.requests.add(watcher)
      signals = watcher.signals.makeAsyncIterator()
    }

    /// The next result; nil once the task is cancelled.
    ///
    /// - Throws: The error of the store or of a request. The next call continues after it.
    public mutating func next() async throws -> GraphQLResponse<Operation>? {
      if isFirst {
        isFirst = false
        if let fetch = results.fetch {
          fetching = try fetch(nil)
        } else if let response = try await stored() {
          return response
        }
      }
      while !Task.isCancelled {
        if let policy = watcher.takeRequest(), let fetch = results.fetch { fetching = try fetch(policy) }
        if let response = try await fetched() { return response }
        guard await signals.next(isolation: #isolation) != nil else { return nil }
        // A signal may be older than the last result.
        if watcher.isAffected, let response = try await stored() { return response }
      }
      return nil
    }

    /// The next result of the current request.
    private mutating func fetched() async throws -> GraphQLResponse<Operation>? {
      guard let stream = fetching else { return nil }
      watcher.gather()
      do {
        let response: GraphQLResponse<Operation>
        switch try await watcher.asking({ try await stream.pull() }) {
        case .element(let next): response = next
        case .last(let next):
          fetching = nil
          response = next
        case .end:
          fetching = nil
          watcher.depend(on: keys, keepingEarlier: true)
          return nil
        }
        await remember(response)
        return response
      } catch {
        fetching = nil
        watcher.depend(on: keys, keepingEarlier: true)
        // The store may have the result later.
        if !results.refetches, (error as? RequestChainError)?.code == .noResults { return nil }
        throw error
      }
    }

    /// Stores the fields that the last result depends on.
    private mutating func remember(_ response: GraphQLResponse<Operation>) async {
      let reading = try? await results.store.reading(results.operation)
      // If the result cannot be read back, it depends on the fields that were written.
      keys = reading?.dependentKeys ?? results.store.dependentKeys(of: response, to: results.operation) ?? keys
      let wasChanged = watcher.depend(on: keys)
      let stored = reading?.isComplete == true ? reading?.response.body.data : nil
      // The store may already be newer than the result. Its data then counts as delivered only if it equals the result.
      lastData = !wasChanged || Self.areEqual(stored, response.body.data) ? stored : nil
    }

    private static func areEqual(_ left: Data?, _ right: Data?) -> Bool {
      guard let left, let right, let value = try? JSONValue(parsing: [UInt8](left)) else { return false }
      return value == (try? JSONValue(parsing: [UInt8](right)))
    }

    /// The current result of the store, if it differs from the last one. If a field is missing, a request is started.
    private mutating func stored() async throws -> GraphQLResponse<Operation>? {
      watcher.gather()
      let reading: ApolloStore.Reading<Operation>?
      do {
        reading = try await results.store.reading(results.operation)
      } catch {
        watcher.depend(on: keys)
        throw error
      }
      // Pending fragments are fetched from the server, if requests are allowed.
      guard let reading, reading.isComplete, !results.refetches || reading.response.pendingFragments.isEmpty else {
        lastData = nil
        guard keys != nil, results.refetches, let fetch = results.fetch else {
          watcher.depend(on: reading?.dependentKeys)
          return nil
        }
        fetching = try fetch(.networkOnly)
        return try await fetched()
      }
      keys = reading.dependentKeys
      watcher.depend(on: keys)
      let data = reading.response.body.data
      guard data != lastData else { return nil }
      lastData = data
      return reading.response
    }
  }
}
