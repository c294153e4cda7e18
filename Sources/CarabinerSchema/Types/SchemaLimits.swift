/// The limits for reading and validating a schema.
public struct SchemaLimits: Sendable, Hashable {
  /// The default maximal size of all texts of a schema in bytes.
  public static let defaultMaximumBytes = 32 << 20
  /// The default maximal number of tokens in all texts of a schema.
  public static let defaultMaximumTokens = 4_000_000
  /// The default maximal nesting depth of values.
  public static let defaultMaximumDepth = 200
  /// The default maximal size of an introspection result in bytes. It is several times as long as the same schema as a text.
  public static let defaultMaximumIntrospectionBytes = 128 << 20
  /// The default maximal number of problems that are reported.
  public static let defaultMaximumProblems = 100

  /// The maximum size of all texts in bytes.
  public let maximumBytes: Int
  /// The maximum number of tokens in all texts.
  public let maximumTokens: Int
  /// The maximum nesting depth of values.
  public let maximumDepth: Int
  /// The maximum size of an introspection result in bytes.
  public let maximumIntrospectionBytes: Int
  /// The maximum number of problems that are reported. Validation ends when it is reached.
  public let maximumProblems: Int

  /// Creates limits. Each is at least 1.
  public init(
    maximumBytes: Int = Self.defaultMaximumBytes, maximumTokens: Int = Self.defaultMaximumTokens,
    maximumDepth: Int = Self.defaultMaximumDepth, maximumIntrospectionBytes: Int = Self.defaultMaximumIntrospectionBytes,
    maximumProblems: Int = Self.defaultMaximumProblems
  ) {
    self.maximumBytes = max(maximumBytes, 1)
    self.maximumTokens = max(maximumTokens, 1)
    self.maximumDepth = max(maximumDepth, 1)
    self.maximumIntrospectionBytes = max(maximumIntrospectionBytes, 1)
    self.maximumProblems = max(maximumProblems, 1)
  }
}
