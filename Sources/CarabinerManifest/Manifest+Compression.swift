extension Manifest {
  /// The compression of whole responses to clients.
  package struct Compression: Sendable, Hashable {
    /// A content coding.
    package enum Encoding: String, Sendable, Hashable, CaseIterable {
      case zstd
      case gzip
    }

    /// The content codings, the preferred one first.
    package var encodings = Encoding.allCases
    /// The smallest body that is compressed.
    package var minimumBytes = 1 << 10
    /// The level, from fast to small.
    package var level = 1

    package static let levels = 1...9

    /// Compression with default settings.
    package init() {}
  }
}
