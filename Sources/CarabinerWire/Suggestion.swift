/// Finds the known word that was probably meant.
package enum Suggestion {
  /// " (did you mean …?)" with the most similar of `candidates`; empty if none is similar.
  package static func text(for word: String, among candidates: some Sequence<String>) -> String {
    // Only the case of a letter is wrong.
    if let same = candidates.first(where: { $0.lowercased() == word.lowercased() }) { return " (did you mean \(same)?)" }
    let near = candidates.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    // A word of one letter is similar to every other short word, so a suggestion would not help.
    guard let near, near.1 <= min(max(2, word.count / 3), word.count - 1) else { return "" }
    return " (did you mean \(near.0)?)"
  }

  /// The number of bytes to add, remove or change to turn one word into the other.
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right.utf8.prefix(64))
    var row = Array(0...right.count)
    for (i, a) in left.utf8.prefix(64).enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let changed = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(changed, diagonal + 1, row[j] + 1)
      }
    }
    return row[right.count]
  }
}
