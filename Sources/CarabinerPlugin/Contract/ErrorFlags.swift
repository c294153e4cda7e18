/// The kind of an error.
public struct ErrorFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A retry may succeed.
  public static let retryable = ErrorFlags(rawValue: 1 << 0)
  /// A timeout expired.
  public static let timeout = ErrorFlags(rawValue: 1 << 1)
  /// The call was cancelled.
  public static let cancelled = ErrorFlags(rawValue: 1 << 2)
  /// The network failed.
  public static let transport = ErrorFlags(rawValue: 1 << 3)
  /// The server returned an error status.
  public static let httpStatus = ErrorFlags(rawValue: 1 << 4)
  /// The response could not be parsed.
  public static let parse = ErrorFlags(rawValue: 1 << 5)
  /// The cache or the store failed.
  public static let cache = ErrorFlags(rawValue: 1 << 6)
  /// The GraphQL server rejected the operation.
  public static let graphQL = ErrorFlags(rawValue: 1 << 7)
  /// A limit was reached.
  public static let limit = ErrorFlags(rawValue: 1 << 8)
  /// A plugin violated the contract of `carabiner.h`.
  public static let pluginFault = ErrorFlags(rawValue: 1 << 9)
}
