internal import CarabinerWire

/// JSON that a plugin stages, as a host accepts it.
enum StagedJSON {
  private static let escape = Array("\\u".utf8)
  private static let replacement = Array("\\ufffd".utf8)

  /// The object in these bytes; nil if they are not one.
  ///
  /// A plugin may forward unpaired surrogate escapes such as `\ud800` unchanged, because RFC 8259 permits them.
  static func object(_ bytes: [UInt8]) -> JSONObject? {
    if let object = (try? JSONValue(parsing: bytes))?.object { return object }
    // A check sends objects that are nested more deeply, and a plugin may forward them. No check reads their members.
    if isTooDeep(bytes) { return JSONObject() }
    return (try? JSONValue(parsing: withoutSurrogates(bytes)))?.object
  }

  /// Whether an escape such as `\ud83d` is an unpaired surrogate, which is half of a character.
  static func hasHalf(_ bytes: [UInt8]) -> Bool {
    func unit(_ index: Int) -> UInt16? {
      guard index + 6 <= bytes.count, bytes[index] == escape[0], bytes[index + 1] == escape[1] else { return nil }
      return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
    }
    var index = 0
    while let next = bytes[index...].firstIndex(of: escape[0]) {
      index = next
      guard let first = unit(index) else {
        index = min(index + 2, bytes.count)
        continue
      }
      let isPair = (0xD800...0xDBFF).contains(first) && unit(index + 6).map { (0xDC00...0xDFFF).contains($0) } ?? false
      if (0xD800...0xDFFF).contains(first), !isPair { return true }
      index += isPair ? 12 : 6
    }
    return false
  }

  private static func isTooDeep(_ bytes: [UInt8]) -> Bool {
    var (depth, deepest, isText) = (0, 0, false)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\") where isText: index += 1
      case UInt8(ascii: "\""): isText.toggle()
      case UInt8(ascii: "{"), UInt8(ascii: "["): if !isText { depth += 1 }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): if !isText { depth -= 1 }
      default: break
      }
      deepest = max(deepest, depth)
      index += 1
    }
    return deepest > JSONLimits().maximumDepth && depth == 0 && bytes.first == UInt8(ascii: "{")
  }

  private static func withoutSurrogates(_ bytes: [UInt8]) -> [UInt8] {
    var out = bytes
    var index = 0
    while index + 6 <= out.count {
      guard out[index] == escape[0] else {
        index += 1
        continue
      }
      guard out[index + 1] == escape[1] else {
        index += 2
        continue
      }
      let digits = String(decoding: out[(index + 2)..<(index + 6)], as: UTF8.self)
      if let unit = UInt16(digits, radix: 16), (0xD800...0xDFFF).contains(unit) {
        out.replaceSubrange(index..<(index + 6), with: replacement)
      }
      index += 6
    }
    return out
  }
}
