/// A text with operations and fragments, with the name of its file.
public struct DocumentSource: Sendable, Hashable {
  /// The name of the file, relative to the folder of the documents.
  public let file: String
  /// The text.
  public let text: String

  /// Creates a source.
  public init(file: String, text: String) {
    self.file = file
    self.text = text
  }
}
