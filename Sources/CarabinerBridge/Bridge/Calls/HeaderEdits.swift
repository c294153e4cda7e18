internal import Carabiner

/// Changes of header fields that a hook staged, in their order.
///
/// The changes are stored and not the changed headers: to copy these for each stage would cost more than the rest of a hook.
struct HeaderEdits {
  private enum Kind {
    /// A field is added, and others of its name stay as they are.
    case add
    /// The field replaces others of its name.
    case set
    /// The fields of the name are removed. The value is empty.
    case remove
  }

  private var fields = HTTPHeaders()
  /// Empty if all changes are fields that are added, as mostly.
  private var kinds: [Kind] = []

  /// More memory than this is not kept for further changes, 4 KiB: there may be many calls.
  private static let largestKept = 4 << 10

  var count: Int { fields.count }
  var isEmpty: Bool { fields.isEmpty }

  /// Stages a field. Both texts must be UTF-8.
  ///
  /// - Parameter keepsOthers: Whether fields of that name stay as they are. Else this one replaces them.
  mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>, keepsOthers: Bool) {
    if !keepsOthers || !kinds.isEmpty { note(keepsOthers ? .add : .set) }
    fields.append(name, value)
  }

  /// Stages that the fields of a name are removed.
  mutating func remove(_ name: Span<UInt8>) {
    note(.remove)
    fields.append(name, name.extracting(first: 0))
  }

  /// Notes the kind of the next field.
  private mutating func note(_ kind: Kind) {
    while kinds.count < fields.count { kinds.append(.add) }
    kinds.append(kind)
  }

  /// Applies the changes.
  func apply(to headers: inout HTTPHeaders) {
    if kinds.isEmpty { return headers.append(contentsOf: fields) }
    let bytes = fields.bytes.span
    for index in kinds.indices {
      let (name, value) = (bytes.extracting(fields.nameRange(at: index)), bytes.extracting(fields.valueRange(at: index)))
      switch kinds[index] {
      case .add: headers.append(name, value)
      case .set: headers.set(name, value)
      case .remove: headers.remove(name)
      }
    }
  }

  /// Forgets the changes, and keeps the memory for others unless it is large.
  mutating func removeAll() {
    if fields.memoryCount > Self.largestKept { fields = [:] }
    fields.removeAllKeepingMemory()
    if !kinds.isEmpty { kinds.removeAll(keepingCapacity: true) }
  }
}
