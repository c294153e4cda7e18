internal import CarabinerWire

/// The reference from one record to another: `{"$ref":"KEY"}`.
package enum Reference {
  static let opening = Array(#"{"$ref":"#.utf8)

  /// The key of the reference at `offset`, or nil if there is none. Moves `offset` past the reference.
  static func key(in bytes: Span<UInt8>, at offset: inout Int) -> String? {
    guard let name = nameRange(in: bytes, at: offset) else { return nil }
    offset = name.range.upperBound + 2
    if name.hasEscapes {
      let quoted = bytes.extracting(name.range.lowerBound - 1..<name.range.upperBound + 1)
      return (try? JSONValue(parsing: quoted))?.string
    }
    do {
      return String(copying: try UTF8Span(validating: bytes.extracting(name.range)))
    } catch {
      return nil
    }
  }

  /// The keys of all references in a value.
  package static func keys(in bytes: Span<UInt8>) -> [String] {
    var (keys, offset): ([String], Int) = ([], 0)
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "{"), let key = key(in: bytes, at: &offset) { keys.append(key) } else { offset += 1 }
    }
    return keys
  }

  /// For each reference in a value, the indices of the lists it is in, outermost first.
  static func places(in bytes: Span<UInt8>) -> [[Int]] {
    var (places, indices, offset): ([[Int]], [Int], Int) = ([], [], 0)
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: "["): indices.append(0)
      case UInt8(ascii: "]"): _ = indices.popLast()
      case UInt8(ascii: ","): if let last = indices.popLast() { indices.append(last + 1) }
      case UInt8(ascii: "{") where skip(in: bytes, at: &offset):
        places.append(indices)
        continue
      default: break
      }
      offset += 1
    }
    return places
  }

  /// Moves `offset` past the reference. Returns whether there is one.
  static func skip(in bytes: Span<UInt8>, at offset: inout Int) -> Bool {
    guard let name = nameRange(in: bytes, at: offset) else { return false }
    offset = name.range.upperBound + 2
    return true
  }

  private static func nameRange(in bytes: Span<UInt8>, at offset: Int) -> (range: Range<Int>, hasEscapes: Bool)? {
    let start = offset + opening.count
    guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
    for place in opening.indices where bytes[offset + place] != opening[place] { return nil }
    var (end, hasEscapes) = (start + 1, false)
    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
      if bytes[end] == UInt8(ascii: "\\") {
        hasEscapes = true
        end += 1
      }
      end += 1
    }
    guard end + 1 < bytes.count, bytes[end + 1] == UInt8(ascii: "}") else { return nil }
    return (start + 1..<end, hasEscapes)
  }
}
