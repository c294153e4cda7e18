internal import NIOPosix

/// The encoders of one thread. They are kept, because to make one costs several times as much as to compress a short body.
///
/// Safe without a lock: the object is stored in a variable of its thread, so no other thread can reach it.
final class ThreadEncoders: @unchecked Sendable {
  private static let ofThread = ThreadSpecificVariable<ThreadEncoders>()

  private var gzip: GzipEncoder?
  private var zstd: ZstdEncoder?

  /// The encoders of the current thread.
  static var current: ThreadEncoders {
    if let known = ofThread.currentValue { return known }
    let made = ThreadEncoders()
    ofThread.currentValue = made
    return made
  }

  /// The gzip encoder; nil if there is no memory for it.
  func gzip(_ level: Int) -> GzipEncoder? {
    if gzip?.level != level { gzip = GzipEncoder(level: level) }
    return gzip
  }

  /// The zstd encoder; nil if there is no memory for it.
  func zstd(_ level: Int) -> ZstdEncoder? {
    if zstd?.level != level { zstd = ZstdEncoder(level: level) }
    return zstd
  }
}
