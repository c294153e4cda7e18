/// The hooks of all kinds of stages.
public enum Hook: UInt8, CaseIterable, Sendable {
  case onRequest
  case onResult
  case onHead
  case onChunk
  case onRead
  case onWrite
  case onError
  case onEnd

  private static let names = ["on_request", "on_result", "on_head", "on_chunk", "on_read", "on_write", "on_error", "on_end"]

  /// The hook's name in the header.
  public var name: String { Self.names[Int(rawValue)] }
}
