extension String {
  /// Copies of a text, one after the other.
  ///
  /// `String(repeating:count:)` appends each copy on its own, which takes a second for some tens of megabytes of single letters.
  static func copies(_ count: Int, of text: String) -> String {
    if count < 2 { return count == 1 ? text : "" }
    let half = copies(count / 2, of: text)
    return half + half + (count.isMultiple(of: 2) ? "" : text)
  }
}
