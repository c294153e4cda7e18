/// How deep a text may be nested.
public struct JSONLimits: Sendable, Hashable {
  /// The default maximal nesting depth of arrays and objects.
  public static let defaultMaximumDepth = 512
  /// No limit may be set above this.
  ///
  /// Values are compared, written and released recursively; at this depth a stack of 2 MiB holds that even without
  /// optimisation, and one of 512 KiB with it.
  public static let highestMaximumDepth = 1024

  /// How deep arrays and objects may be nested.
  public let maximumDepth: Int

  /// Limits; a depth above ``highestMaximumDepth`` is lowered to it.
  public init(maximumDepth: Int = Self.defaultMaximumDepth) {
    self.maximumDepth = min(max(maximumDepth, 1), Self.highestMaximumDepth)
  }

  /// As deep as any may be.
  package static var highest: JSONLimits { JSONLimits(maximumDepth: highestMaximumDepth) }
}
