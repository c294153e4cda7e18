internal import Carabiner
internal import CarabinerDigest

/// The keys of a store in Redis, version 1.
///
/// All begin with the same tag, so they are in one slot of a cluster. A record is a hash. The record of a root grows with each list of
/// arguments, so each of its fields is a string of its own.
struct StoreLayout: Sendable {
  static let version = 1
  /// A longer name is replaced by `#` and its SHA-256.
  private static let maximumNameBytes = 512
  /// The field of a record that contains the key if the key was replaced.
  static let longKeyField = "#"

  /// The beginning of all keys.
  let tag: String

  /// The slot of all keys in a cluster.
  let slot: HashSlot

  init(prefix: String) {
    tag = "{crb:\(prefix)}:"
    slot = HashSlot(key: tag)
  }

  var versionKey: String { tag + "v" }
  var channel: String { tag + "c" }
  var recordPrefix: String { tag + "r:" }

  var rootsPrefix: String { tag + "f:" }

  func recordKey(_ key: String) -> String { recordPrefix + Self.short(key) }

  func rootPrefix(_ root: String) -> String { "\(tag)f:\(root)|" }

  func rootFieldKey(_ root: String, _ field: String) -> String { rootPrefix(root) + Self.short(field) }

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
