/// A fragment that selects fields of one object, and the type that its data is decoded to.
public protocol GraphQLFragment: Codable, Sendable {
  /// The text of a document that defines the fragment and the fragments that it uses.
  static var document: String { get }
  /// The fragment's name in the document; nil for the first.
  static var fragmentName: String? { get }
}

extension GraphQLFragment {
  public static var fragmentName: String? { nil }
}
