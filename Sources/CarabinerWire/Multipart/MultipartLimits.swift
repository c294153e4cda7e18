/// The limits for the parts of a multipart body.
public struct MultipartLimits: Sendable, Hashable {
  /// The default maximal size of a part, 64 MiB.
  public static let defaultMaximumPartBytes = 64 << 20
  /// The default maximal size of the headers of a part, 16 KiB.
  public static let defaultMaximumHeaderBytes = 16 << 10
  /// The maximal white space between a boundary and the end of its line.
  public static let maximumPaddingBytes = 256

  /// The maximal size of a part, and of the preamble, in bytes.
  public var maximumPartBytes: Int
  /// The maximum size of the headers of a part, in bytes.
  public var maximumHeaderBytes: Int

  /// Creates limits.
  public init(
    maximumPartBytes: Int = Self.defaultMaximumPartBytes, maximumHeaderBytes: Int = Self.defaultMaximumHeaderBytes
  ) {
    self.maximumPartBytes = max(maximumPartBytes, 1)
    self.maximumHeaderBytes = max(maximumHeaderBytes, 1)
  }
}
