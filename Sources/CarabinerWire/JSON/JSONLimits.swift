/// How deep a text may be nested.
public struct JSONLimits: Sendable, Hashable {
  /// How deep arrays and objects may be nested unless told otherwise.
  public static let defaultMaximumDepth = 512
  /// No limit may be set above this: values are released and written recursively, so it keeps them on any thread's stack.
  public static let highestMaximumDepth = 2048

  /// How deep arrays and objects may be nested.
  public let maximumDepth: Int

  /// Limits; a depth above ``highestMaximumDepth`` is lowered to it.
  public init(maximumDepth: Int = Self.defaultMaximumDepth) {
    self.maximumDepth = min(max(maximumDepth, 1), Self.highestMaximumDepth)
  }
}
