/// A text of the configuration, with its place for messages.
struct PlacedText: Sendable, Hashable {
  let text: String
  let line: Int
  let column: Int

  init(_ text: String, line: Int = 1, column: Int = 1) {
    self.text = text
    self.line = line
    self.column = column
  }
}
