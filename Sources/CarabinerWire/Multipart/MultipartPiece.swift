/// A piece of a multipart body whose parts are too long to be in memory.
public enum MultipartPiece: Sendable, Hashable {
  /// The headers of the next part, which ends the part before it.
  case part([MultipartPart.Header])
  /// Bytes of the current part; at least one.
  case bytes([UInt8])
}
