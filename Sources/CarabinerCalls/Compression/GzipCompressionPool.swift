public import FoundationEssentials

/// Compression with gzip.
public struct GzipCompressionPool: CompressionPool {
  /// The default maximum size of a decompressed message.
  public static let defaultMaximumBytes = 64 << 20

  /// Creates a pool.
  public init() {}

  public func name() -> String { "gzip" }

  /// Compresses data. Data that is gzip already is returned unchanged.
  public func compress(data: Data) throws -> Data {
    if data.starts(with: [0x1F, 0x8B]) { return data }
    return try Gzip.compressed(data)
  }

  public func decompress(data: Data) throws -> Data { try decompress(data: data, maximumBytes: Self.defaultMaximumBytes) }

  public func decompress(data: Data, maximumBytes: Int) throws -> Data {
    data.isEmpty ? data : try Gzip.decompressed(data, maximumBytes: maximumBytes)
  }
}
