/// How large the parts of a multipart body may be.
public struct MultipartLimits: Sendable, Hashable {
  /// Bytes a part may have unless told otherwise, 64 MiB.
  public static let defaultMaximumPartBytes = 64 << 20
  /// Bytes the headers of a part may have unless told otherwise, 16 KiB.
  public static let defaultMaximumHeaderBytes = 16 << 10
  /// White space that may stand between a boundary and the end of its line.
  public static let maximumPaddingBytes = 256

  /// Bytes a part may have, and what stands before the first.
  public var maximumPartBytes: Int
  /// Bytes the headers of a part may have.
  public var maximumHeaderBytes: Int

  /// Limits, each with its default.
  public init(
    maximumPartBytes: Int = Self.defaultMaximumPartBytes, maximumHeaderBytes: Int = Self.defaultMaximumHeaderBytes
  ) {
    self.maximumPartBytes = max(maximumPartBytes, 1)
    self.maximumHeaderBytes = max(maximumHeaderBytes, 1)
  }
}
