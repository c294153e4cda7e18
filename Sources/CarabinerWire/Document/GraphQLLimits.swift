/// How large a document may be.
public struct GraphQLLimits: Sendable, Hashable {
  /// The default maximal nesting depth of brackets.
  public static let defaultMaximumDepth = 200
  /// No depth may be set above this.
  ///
  /// Documents are read, compared, printed and released recursively; at this depth a stack of 2 MiB holds that even without
  /// optimisation, and one of 768 KiB with it.
  public static let highestMaximumDepth = 500
  /// The default maximal number of tokens of a document.
  public static let defaultMaximumTokens = 100_000
  /// The default maximal size of a document in bytes.
  public static let defaultMaximumBytes = 1 << 20

  /// How deep selection sets, lists, objects and list types may be nested in each other.
  public let maximumDepth: Int
  /// How many tokens a document may have.
  public let maximumTokens: Int
  /// How many bytes a document may have.
  public let maximumBytes: Int

  /// Limits; a depth above ``highestMaximumDepth`` is lowered to it.
  public init(
    maximumDepth: Int = Self.defaultMaximumDepth, maximumTokens: Int = Self.defaultMaximumTokens,
    maximumBytes: Int = Self.defaultMaximumBytes
  ) {
    self.maximumDepth = min(max(maximumDepth, 1), Self.highestMaximumDepth)
    self.maximumTokens = max(maximumTokens, 1)
    self.maximumBytes = max(maximumBytes, 1)
  }
}
