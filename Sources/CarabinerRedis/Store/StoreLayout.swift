internal import Carabiner
internal import CarabinerDigest

/// The keys of a store in Redis, version 1.
///
/// All begin with the same tag, so they are in one slot of a cluster. A record is a hash. The record of a root grows with each list of
/// arguments, so each of its fields is a string of its own.
///
/// | | in one slot | spread |
/// |---|---|---|
/// | version | `{crb:PREFIX}:v` | `{crb:PREFIX}:v` |
/// | channel | `{crb:PREFIX}:c` | `{crb:PREFIX}:c` |
/// | record | `{crb:PREFIX}:r:KEY` | `{crb:PREFIX:r:KEY}` |
/// | field of a root | `{crb:PREFIX}:f:ROOT\|FIELD` | `{crb:PREFIX:f:ROOT\|FIELD}` |
///
/// A spread store has the tag around the whole key, so each key has a slot of its own. If a name contains a closing brace, its slot is that
/// of the part before, which only means that some keys have the same slot.
struct StoreLayout: Sendable {
  static let version = 1
  /// A longer name is replaced by `#` and its SHA-256.
  private static let maximumNameBytes = 512
  /// The field of a record that contains the key if the key was replaced.
  static let longKeyField = "#"

  /// The beginning of all keys that are always in one slot.
  let tag: String
  /// Whether each key has a slot of its own.
  let isSpread: Bool

  /// The slot of the keys with the tag in a cluster: of all keys, unless they are spread.
  let slot: HashSlot
  /// The beginning of the keys of records.
  let recordPrefix: String
  /// The beginning of the keys of fields of roots.
  let rootsPrefix: String
  /// The end of both.
  private let suffix: String

  init(prefix: String, isSpread: Bool = false) {
    tag = "{crb:\(prefix)}:"
    slot = HashSlot(key: tag)
    self.isSpread = isSpread
    let begin = isSpread ? "{crb:\(prefix):" : tag
    (recordPrefix, rootsPrefix, suffix) = (begin + "r:", begin + "f:", isSpread ? "}" : "")
  }

  var versionKey: String { tag + "v" }
  var channel: String { tag + "c" }

  func recordKey(_ key: String) -> String { recordPrefix + Self.short(key) + suffix }

  func rootPrefix(_ root: String) -> String { "\(rootsPrefix)\(root)|" }

  func rootFieldKey(_ root: String, _ field: String) -> String { rootPrefix(root) + Self.short(field) + suffix }

  /// The name in a key that begins with a prefix of records or of a root.
  func name(in key: String, after prefix: String) -> String { String(key.dropFirst(prefix.count).dropLast(suffix.count)) }

  static func isRoot(_ key: String) -> Bool { RootRecord(rawValue: key) != nil }

  /// A name as it is, or its digest if it is too long or could be confused with one.
  static func short(_ name: String) -> String { isShort(name) ? name : "#" + hexadecimal(Digest.sha256(Array(name.utf8))) }

  static func isShort(_ name: String) -> Bool { name.utf8.count <= maximumNameBytes && name.utf8.first != 0x23 }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// A pattern of `SCAN` for keys that begin with a text.
  static func pattern(beginningWith text: String) -> String {
    var pattern = ""
    for character in text {
      if #"\*?[]"#.contains(character) { pattern.append("\\") }
      pattern.append(character)
    }
    return pattern + "*"
  }
}
