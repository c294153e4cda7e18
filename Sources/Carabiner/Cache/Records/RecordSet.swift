/// Records to publish, or a response from which the store creates the records.
///
/// Only the store knows the key fields, so a parser passes on the response and not its records.
public struct RecordSet: Sendable, Hashable {
  /// The single records.
  private(set) var list: [Record] = []
  /// Whether the document of the response lacks `__typename` for some of its objects.
  var lacksTypes = false
  /// The records of a response. They are older than the list.
  private var source: Source?

  private enum Source: Sendable {
    case response(ResponseRecords)
    case batch(RecordBatch)
  }

  /// Creates a set of records. The fields of records with the same key are merged, and later values replace earlier ones.
  public init(_ records: some Sequence<Record> = []) { list = Array(records) }

  package init(response: ResponseRecords) { source = .response(response) }

  init(_ batch: RecordBatch) { source = .batch(batch) }

  /// The records of the response; nil if there is no response, and before ``resolved(by:)``.
  var batch: RecordBatch? { if case .batch(let batch)? = source { batch } else { nil } }

  /// Adds a record. If the key exists, the fields are merged, and new values replace existing ones.
  public mutating func insert(_ record: Record) { list.append(record) }

  /// The records by key. Those of a response have the keys of the default policy.
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

  /// The same set, with the records of its response.
  func resolved(by policy: CacheKeyPolicy) -> RecordSet {
    guard case .response(let response)? = source else { return self }
    var set = response.records(policy: policy)
    set.list += list
    return set
  }

  /// The records in the order of arrival. If two have the same key, the later one wins.
  package func list(policy: CacheKeyPolicy) -> [Record] {
    let set = resolved(by: policy)
    return (set.batch?.records ?? []) + set.list
  }

  /// The fields of the records, as `record.field`.
  package func fieldKeys(policy: CacheKeyPolicy) -> Set<String> {
    list(policy: policy).reduce(into: []) { keys, record in
      for field in record.names { keys.insert("\(record.key).\(field)") }
    }
  }

  public static func == (left: RecordSet, right: RecordSet) -> Bool { left.records == right.records }

  public func hash(into hasher: inout Hasher) { hasher.combine(records) }
}
