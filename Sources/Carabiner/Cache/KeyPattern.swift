/// A pattern for the keys of records: `*` matches any text, all other characters match themselves.
package struct KeyPattern: Sendable {
  private let pieces: [[UInt8]]

  /// Parses a pattern. Every text is a valid pattern.
  package init(_ text: String) {
    pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
  }

  /// The common prefix of all matching keys.
  package var prefix: [UInt8] { pieces.first ?? [] }

  /// Whether a key matches.
  package func matches(_ key: String) -> Bool {
    let key = Array(key.utf8)
    guard let first = pieces.first, let last = pieces.last, key.starts(with: first) else { return false }
    guard pieces.count > 1 else { return key.count == first.count }
    guard key.count >= first.count + last.count, key.suffix(last.count).elementsEqual(last) else { return false }
    var rest = key[first.count..<key.count - last.count]
    for piece in pieces.dropFirst().dropLast() {
      guard let found = Self.find(piece, in: rest) else { return false }
      rest = rest[(found + piece.count)...]
    }
    return true
  }

  private static func find(_ piece: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    guard !piece.isEmpty else { return bytes.startIndex }
    guard bytes.count >= piece.count else { return nil }
    return (bytes.startIndex...bytes.endIndex - piece.count).first { bytes[$0..<$0 + piece.count].elementsEqual(piece) }
  }
}
