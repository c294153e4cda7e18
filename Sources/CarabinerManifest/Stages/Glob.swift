/// A pattern of names: `*` matches any text, `?` one character.
package struct Glob: Sendable, Hashable {
  /// The pattern as it was written.
  package let pattern: String
  private let scalars: [Unicode.Scalar]

  /// Reads a pattern. Every text is a valid pattern.
  package init(_ pattern: String) {
    self.pattern = pattern
    scalars = Array(pattern.unicodeScalars)
  }

  /// Whether the pattern matches one name only.
  package var isExact: Bool { !scalars.contains { $0 == "*" || $0 == "?" } }

  /// The first character of every name that matches; nil if the pattern begins with a wildcard.
  var firstScalar: Unicode.Scalar? { scalars.first.flatMap { $0 == "*" || $0 == "?" ? nil : $0 } }

  /// Whether a name matches. Backtracking goes to the last star only, so no pattern takes exponential time.
  package func matches(_ name: String) -> Bool {
    let name = name.unicodeScalars
    var position = name.startIndex
    var next = 0
    var star: (pattern: Int, name: String.UnicodeScalarView.Index)?
    while position < name.endIndex {
      if next < scalars.count, scalars[next] == "*" {
        star = (next, position)
        next += 1
      } else if next < scalars.count, scalars[next] == "?" || scalars[next] == name[position] {
        next += 1
        position = name.index(after: position)
      } else if let last = star {
        position = name.index(after: last.name)
        star = (last.pattern, position)
        next = last.pattern + 1
      } else {
        return false
      }
    }
    return scalars[next...].allSatisfy { $0 == "*" }
  }
}
