/// A list of patterns of OpenSSH: `*` matches any text, `?` one character, and a pattern after `!` excludes what it matches.
struct NamePatterns: Sendable, Hashable {
  private struct Pattern: Sendable, Hashable {
    let excludes: Bool
    let bytes: [UInt8]
  }

  private let patterns: [Pattern]

  /// Reads patterns with commas between them. Every text is a valid list.
  init(_ text: some Collection<UInt8>) {
    patterns = Array(text).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
      let excludes = part.first == UInt8(ascii: "!")
      return Pattern(excludes: excludes, bytes: Array(part.dropFirst(excludes ? 1 : 0)))
    }
  }

  /// Whether a pattern matches, and no pattern after `!` does.
  func matches(_ name: String) -> Bool {
    let name = Array(name.utf8)
    let matching = patterns.filter { Self.matches($0.bytes, name) }
    return !matching.isEmpty && !matching.contains(where: \.excludes)
  }

  /// Backtracking goes to the last star only, so no pattern takes exponential time.
  private static func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
    var (place, next) = (0, 0)
    var star: (next: Int, place: Int)?
    while place < name.count {
      if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
        next += 1
        star = (next, place)
      } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") || pattern[next] == name[place] {
        (place, next) = (place + 1, next + 1)
      } else if let last = star {
        star = (last.next, last.place + 1)
        (place, next) = (last.place + 1, last.next)
      } else {
        return false
      }
    }
    return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
