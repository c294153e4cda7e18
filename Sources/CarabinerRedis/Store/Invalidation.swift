internal import Carabiner

/// A message about changed fields from one node to the others.
///
/// A version byte, 8 bytes that identify the node, and for each record its key and the changed fields, separated by NUL and ended by LF.
/// A record without fields was removed. `*` instead of records means that anything may have changed.
struct Invalidation: Hashable, Sendable {
  /// The changed fields of a record; all if there are none.
  struct Entry: Hashable, Sendable {
    let key: String
    let fields: [String]
  }

  static let version: UInt8 = 1
  static let nodeBytes = 8
  /// A longer message becomes `*`.
  static let maximumBytes = 256 << 10
  private static let all = UInt8(ascii: "*")

  let node: [UInt8]
  /// Nil if anything may have changed.
  let entries: [Entry]?

  init(node: [UInt8], entries: [Entry]?) { (self.node, self.entries) = (node, entries) }

  /// Reads a message. One of another version, or a malformed one, means that anything may have changed.
  init(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count > Self.nodeBytes, bytes.first == Self.version else {
      self.init(node: [], entries: nil)
      return
    }
    let (node, text) = (Array(bytes.dropFirst().prefix(Self.nodeBytes)), bytes.dropFirst(1 + Self.nodeBytes))
    guard !text.elementsEqual([Self.all]), text.last == 0x0A || text.isEmpty else {
      self.init(node: node, entries: nil)
      return
    }
    var entries: [Entry] = []
    for line in text.split(separator: 0x0A) {
      let words = line.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
      entries.append(Entry(key: words[0], fields: Array(words.dropFirst())))
    }
    self.init(node: node, entries: entries)
  }

  /// The text of the message.
  var bytes: [UInt8] {
    var bytes = [Self.version] + node
    let start = bytes.count
    for entry in entries ?? [] {
      for (number, word) in ([entry.key] + entry.fields).enumerated() {
        if number > 0 { bytes.append(0) }
        // A name of a client's own data cannot be written if it contains a separator.
        guard !word.utf8.contains(where: { $0 == 0 || $0 == 0x0A }) else { return bytes.prefix(start) + [Self.all] }
        bytes.append(contentsOf: word.utf8)
      }
      bytes.append(0x0A)
      guard bytes.count <= Self.maximumBytes else { return bytes.prefix(start) + [Self.all] }
    }
    return entries == nil ? bytes + [Self.all] : bytes
  }

  /// The change for watchers of the store.
  var change: StoreChange {
    guard let entries, entries.allSatisfy({ !$0.fields.isEmpty }) else { return .cleared }
    return .keys(entries.reduce(into: []) { keys, entry in for field in entry.fields { keys.insert("\(entry.key).\(field)") } })
  }
}
