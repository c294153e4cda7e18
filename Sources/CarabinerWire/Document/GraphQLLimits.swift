/// The limits for a document.
public struct GraphQLLimits: Sendable, Hashable {
  /// The default maximal nesting depth of brackets.
  public static let defaultMaximumDepth = 200
  /// The maximum value of a depth limit.
  ///
  /// Documents are parsed, compared, printed and released recursively. At this depth a stack of 2 MiB is sufficient without
  /// optimisation, and one of 768 KiB with it.
  public static let highestMaximumDepth = 500
  /// The default maximal number of tokens of a document.
  public static let defaultMaximumTokens = 100_000
  /// The default maximal size of a document in bytes.
  public static let defaultMaximumBytes = 1 << 20

  /// The maximum nesting depth of selection sets, lists, objects and list types.
  public let maximumDepth: Int
  /// The maximum number of tokens.
  public let maximumTokens: Int
  /// The maximum number of bytes.
  public let maximumBytes: Int

  /// Creates limits. A depth above ``highestMaximumDepth`` is reduced to it.
  public init(
    maximumDepth: Int = Self.defaultMaximumDepth, maximumTokens: Int = Self.defaultMaximumTokens,
    maximumBytes: Int = Self.defaultMaximumBytes
  ) {
    self.maximumDepth = min(max(maximumDepth, 1), Self.highestMaximumDepth)
    self.maximumTokens = max(maximumTokens, 1)
    self.maximumBytes = max(maximumBytes, 1)
  }
}
