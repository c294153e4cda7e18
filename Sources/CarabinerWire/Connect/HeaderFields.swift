/// How Connect and gRPC-Web read and write header fields as lists of values by name.
package enum HeaderFields {
  /// The beginning of the name of a field that is a trailer of a unary Connect call.
  package static let trailerPrefix = "trailer-"

  /// The fields whose values may contain commas that do not separate values.
  private static let unsplit: Set = [
    "date", "expires", "last-modified", "set-cookie", "retry-after", "user-agent", "server", "www-authenticate",
  ]

  /// The name with its ASCII letters in lower case.
  package static func lowercased(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return name }
    return String(decoding: name.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Values by name in lower case, with one list for all spellings of a name.
  package static func merged(_ headers: [String: [String]]) -> [String: [String]] {
    var merged: [String: [String]] = [:]
    // Sorted, so that equal headers always give equal values.
    for (name, values) in headers.sorted(by: { $0.key < $1.key }) { merged[lowercased(name), default: []] += values }
    return merged
  }

  /// The values of a received field: its elements, or the whole if it is of a kind that is not a list.
  package static func values(of value: String, for lowercasedName: String) -> [String] {
    let bytes = value.utf8
    guard bytes.contains(UInt8(ascii: ",")), !unsplit.contains(lowercasedName) else { return [trimmed(bytes[...])] }
    var values: [String] = []
    var start = bytes.startIndex
    var isQuoted = false
    var isEscaped = false
    for place in bytes.indices {
      switch bytes[place] {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isQuoted: isEscaped = true
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted:
        values.append(trimmed(bytes[start..<place]))
        start = bytes.index(after: place)
      default: break
      }
    }
    values.append(trimmed(bytes[start...]))
    values.removeAll { $0.isEmpty }
    return values.isEmpty ? [""] : values
  }

  private static func trimmed(_ bytes: Substring.UTF8View) -> String {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    var bytes = bytes.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return String(Substring(bytes))
  }
}
