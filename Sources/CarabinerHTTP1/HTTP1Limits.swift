/// The limits of a message.
public struct HTTP1Limits: Sendable, Hashable {
  /// The maximum size of first line, headers and trailers together, in bytes. Interim responses count too.
  public var headBytes = 256 << 10
  /// The maximum number of headers, and of trailers.
  public var fields = 1000
  /// The maximum size of the line before a chunk, with its extensions, in bytes.
  public var chunkLineBytes = 4 << 10

  /// Creates the default limits.
  public init() {}
}
