/// Records to be published, or a response whose records the store makes when it is.
///
/// Which fields are keys is the store's business, so a parser hands on the response and not what becomes of it.
public struct RecordSet: Sendable, Hashable {
  /// What came one by one.
  private(set) var list: [Record] = []
  /// Whether the response's document does not ask for the types of all its objects.
  var lacksTypes = false
  /// What came in a response; older than the list.
  private var source: Source?

  private enum Source: Sendable {
    case response(ResponseRecords)
    case batch(RecordBatch)
  }

  /// A set of these records; of two with one key the fields are merged, the later winning.
  public init(_ records: some Sequence<Record> = []) { list = Array(records) }

  package init(response: ResponseRecords) { source = .response(response) }

  init(_ batch: RecordBatch) { source = .batch(batch) }

  /// What was made of a response; nil if nothing came in one, and before ``resolved(by:)``.
  var batch: RecordBatch? { if case .batch(let batch)? = source { batch } else { nil } }

  /// Adds a record; fields of a record already there are merged, the new ones winning.
  public mutating func insert(_ record: Record) { list.append(record) }

  /// The records, by key; those of a response as the default policy has them.
  public var records: [String: Record] {
    list(policy: .default).reduce(into: [:]) { records, record in
      if records[record.key] == nil {
        records[record.key] = record
      } else {
        _ = records[record.key]?.table.merge(record.table)
      }
    }
  }

  /// Whether there are no records.
  public var isEmpty: Bool { list.isEmpty && source == nil }

  /// The same with the records of its response made.
  func resolved(by policy: CacheKeyPolicy) -> RecordSet {
    guard case .response(let response)? = source else { return self }
    var set = response.records(policy: policy)
    set.list += list
    return set
  }

  /// The records in the order they came; of two with one key the later wins.
  package func list(policy: CacheKeyPolicy) -> [Record] {
    let set = resolved(by: policy)
    return (set.batch?.records ?? []) + set.list
  }

  public static func == (left: RecordSet, right: RecordSet) -> Bool { left.records == right.records }

  public func hash(into hasher: inout Hasher) { hasher.combine(records) }
}
