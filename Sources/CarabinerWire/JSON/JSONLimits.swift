/// The limit for the nesting depth of a text.
public struct JSONLimits: Sendable, Hashable {
  /// The default maximal nesting depth of arrays and objects.
  public static let defaultMaximumDepth = 512
  /// The maximum value of the limit.
  ///
  /// Values are read, compared, written and released recursively. At this depth a stack of 2 MiB is sufficient without optimisation,
  /// and one of 512 KiB with it.
  public static let highestMaximumDepth = 1024

  /// The maximum nesting depth of arrays and objects.
  public let maximumDepth: Int

  /// Creates limits. A depth above ``highestMaximumDepth`` is reduced to it.
  public init(maximumDepth: Int = Self.defaultMaximumDepth) {
    self.maximumDepth = min(max(maximumDepth, 1), Self.highestMaximumDepth)
  }

  /// The limits with the highest depth.
  package static var highest: JSONLimits { JSONLimits(maximumDepth: highestMaximumDepth) }
}
