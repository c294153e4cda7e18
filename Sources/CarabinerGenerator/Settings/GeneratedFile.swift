/// A file of generated code.
public struct GeneratedFile: Sendable, Hashable {
  /// The name, such as `BookQuery.graphql.swift`. It has the folders of the document.
  public let name: String
  /// The text in Swift.
  public let text: String
}
