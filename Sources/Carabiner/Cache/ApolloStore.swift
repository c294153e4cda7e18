package import CarabinerWire
internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// The normalised store that the cache stage reads and writes: one record for each object, in a ``NormalizedCache``.
///
/// The key of a record consists of the type and the key fields of its object, so all operations share the record. Some types have
/// no key fields, and some operations do not select them and `__typename`. The key is then the result of
/// ``CacheKeyPolicy/objectKey``, or else the path of the object.
///
/// A fragment with a type condition applies to an object if the `__typename` of the object matches. If the type is unknown, it
/// applies if the response has all fields of the fragment, and the record stores this decision. A response that does not match its
/// document is stored as a whole.
public final class ApolloStore: Sendable {
  /// The cache that keeps the records.
  public let cache: any NormalizedCache
  /// The keys of objects, and the maximum age of values.
  public let policy: CacheKeyPolicy
  let documents: CompletedDocuments
  private let hasWarned = Atomic<Bool>(false)
  /// Whether other processes use the cache too. The store then holds no lock during an access.
  let isShared: Bool
  let lock = StoreLock()
  let subscribers = StoreSubscribers()

  /// Creates a store with a cache.
  public init(cache: any NormalizedCache = InMemoryNormalizedCache(), policy: CacheKeyPolicy = .default) {
    self.cache = cache
    self.policy = policy
    documents = CompletedDocuments(policy: policy)
    isShared = cache.isShared
    (cache as? any SharedCache)?.observeChanges { [weak self] change in
      if let self { subscribers.notify(change, of: self) }
    }
  }

  /// Runs an access to the cache with the lock, unless the cache is shared: one slow round trip would hold up all other accesses.
  @inline(__always) func locked<Result>(_ access: StoreLock.Access, _ work: () async throws -> Result) async throws -> Result {
    if isShared { return try await work() }
    return try await lock.with(access, work)
  }

  /// The stored response of an operation; nil if a field is missing or too old, or if a shared cache is not available.
  ///
  /// Deferred fragments may be missing. ``GraphQLResponse/pendingFragments`` of the response lists them.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `reentrantTransaction` or `malformedRecord`.
  public func load<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> GraphQLResponse<Operation>? {
    try TransactionScope.checkOutside(self)
    if isShared { return try await orMiss { try await self.read(operation, from: self.view(for: operation))?.response } }
    return try await lock.with(.read) { try await self.read(operation, from: self.cache)?.response }
  }

  /// Merges records into the store.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `reentrantTransaction`.
  public func publish(records: RecordSet) async throws { _ = try await merge(records) }

  /// Merges records into the store and returns the fields that changed.
  @inline(__always) package func merge(_ records: RecordSet) async throws -> ChangedKeys {
    try TransactionScope.checkOutside(self)
    let records = records.resolved(by: policy)
    if records.lacksTypes, policy.objectKey == nil { warnAboutTypes() }
    let changed = try await locked(.write) { try await self.cache.merge(records: records) }
    subscribers.notify(changed, of: self)
    return changed
  }

  private func warnAboutTypes() {
    guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
    Logger(label: "carabiner.cache").warning(
      """
      an operation does not select __typename, so its objects are stored under their path in the query: other operations do not find \
      them, and watchers do not see their changes; add __typename and the key fields to its selection sets
      """)
  }

  /// Removes all records. Watchers are notified.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `reentrantTransaction`.
  public func clearCache() async throws {
    try TransactionScope.checkOutside(self)
    try await locked(.write) { try await self.cache.clear() }
    subscribers.notify(.cleared, of: self)
  }

  /// The records of a response; nil if it has no data.
  package static func records(
    of response: ResponseBody, operation: some GraphQLOperation, tape: JSONTape? = nil
  ) -> RecordSet? {
    response.hasData ? RecordSet(response: ResponseRecords(response, operation, tape: tape)) : nil
  }

  /// The records of a response to a request; nil if it has no data.
  package static func records(of response: ResponseBody, to request: some GraphQLRequest, tape: JSONTape? = nil) -> RecordSet? {
    response.hasData ? RecordSet(response: ResponseRecords(response, to: request, tape: tape)) : nil
  }

  // MARK: Reading

  /// A response that was read from the cache.
  struct Reading<Operation: GraphQLOperation> {
    let response: GraphQLResponse<Operation>
    /// The fields that the response consists of, as `record.field`.
    let dependentKeys: Set<String>
    /// Whether nothing is missing but deferred fragments that the response lists.
    let isComplete: Bool

    init(response: GraphQLResponse<Operation>, dependentKeys: Set<String>) {
      self.response = response
      self.dependentKeys = dependentKeys
      isComplete = true
    }

    init(_ loaded: ResponseLoader.Loaded) {
      var response = GraphQLResponse<Operation>(body: loaded.body, source: .cache)
      if !loaded.pending.isEmpty { response.delivery = ResultDelivery(hasNext: false, pending: loaded.pending) }
      self.response = response
      dependentKeys = loaded.dependentKeys
      isComplete = loaded.isComplete
    }
  }

  /// Reads the response of an operation.
  ///
  /// - Parameter isPartial: Whether missing fields are left out. If false, a missing field makes the result nil.
  func read<Operation: GraphQLOperation>(
    _ operation: Operation, from cache: any NormalizedCache, wantsDependentKeys: Bool = false, isPartial: Bool = false
  ) async throws -> Reading<Operation>? {
    let (document, name, variables) = (operation.document, operation.operationName, operation.variables)
    let now = StoreClock.now
    let plan = PlanLibrary.shared.plan(document: document, operationName: name)
    if let plan {
      var loader = ResponseLoader(plan, variables: variables, policy: policy, now: now, isPartial: isPartial)
      if let loaded = try await loader.load(from: cache, wantsDependentKeys: wantsDependentKeys) {
        return Reading(loaded)
      }
    }
    if let whole: Reading<Operation> = try await wholeReading(operation, from: cache, now: now) { return whole }
    guard let plan, !plan.source.deferrals.isEmpty else { return nil }
    return try await ResponseLoader.loadWithoutMissingFragments(
      plan, variables: variables, policy: policy, now: now, from: cache, wantsDependentKeys: wantsDependentKeys
    ).map { Reading($0) }
  }

  /// The response of an operation that was stored as a whole.
  private func wholeReading<Operation: GraphQLOperation>(
    _ operation: Operation, from cache: any NormalizedCache, now: Int64
  ) async throws -> Reading<Operation>? {
    let (document, name, variables) = (operation.document, operation.operationName, operation.variables)
    let key = WholeResponse.key(document: document, operationName: name, variables: variables)
    guard let record = try await cache.record(forKey: key, fields: { [WholeResponse.field] }),
      let bytes = record[WholeResponse.field],
      let received = record.received(WholeResponse.field)
    else { return nil }
    if let age = policy.maximumAge(of: "", type: "Query"), received + age <= now { return nil }
    return Reading(
      response: GraphQLResponse(body: try ResponseBody(Data(bytes)), source: .cache),
      dependentKeys: ["\(key).\(WholeResponse.field)"])
  }
}
