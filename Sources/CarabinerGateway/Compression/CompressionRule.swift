internal import CarabinerWire
internal import NIOCore

/// Decides which responses are compressed and with which coding.
package struct CompressionRule: Sendable {
  /// The largest body that is compressed on the thread of its connection. Larger ones are compressed on another thread.
  static let maximumInlineBytes = 64 << 10

  private let names: [String]
  private let minimum: Int
  private let level: Int

  /// - Parameters:
  ///   - codings: The codings, in the order of preference if a client accepts several equally.
  ///   - minimum: The smallest body that is compressed, in bytes.
  ///   - level: The level of compression, 1 to 9.
  package init(codings: [ContentCoding], minimum: Int, level: Int) {
    names = codings.map(\.rawValue)
    self.minimum = minimum
    self.level = level
  }

  /// The coding of a response; nil to send it as it is.
  ///
  /// - Parameter accepted: The client's Accept-Encoding; nil if it sent none.
  func coding(accepted: String?, bytes: Int) -> ContentCoding? {
    guard bytes >= minimum, let accepted else { return nil }
    return AcceptedCodings(accepted).preferred(of: names).flatMap(ContentCoding.init)
  }

  /// Compresses a body; nil if it does not become smaller.
  func compressed(_ body: ByteBuffer, _ coding: ContentCoding) -> CompressedBody? {
    let encoders = ThreadEncoders.current
    let bytes =
      switch coding {
      case .gzip: encoders.gzip(level)?.compressed(body)
      case .zstd: encoders.zstd(level)?.compressed(body)
      }
    guard let bytes, bytes.readableBytes < body.readableBytes else { return nil }
    return CompressedBody(coding: coding, bytes: bytes)
  }
}

/// A body in a content coding.
struct CompressedBody: Sendable {
  let coding: ContentCoding
  let bytes: ByteBuffer
}
