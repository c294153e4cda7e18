internal import CZstd
internal import NIOCore

/// Compresses bodies as zstd, one after the other.
@safe final class ZstdEncoder {
  let level: Int
  private let context: OpaquePointer

  init?(level: Int) {
    guard let context = unsafe ZSTD_createCCtx() else { return nil }
    self.level = level
    unsafe self.context = context
    guard unsafe ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level))) == 0 else { return nil }
  }

  deinit { unsafe _ = ZSTD_freeCCtx(context) }

  /// Compresses a body; nil if zstd fails, for example for lack of memory.
  func compressed(_ body: ByteBuffer) -> ByteBuffer? {
    let bound = ZSTD_compressBound(body.readableBytes)
    var output = ByteBufferAllocator().buffer(capacity: bound)
    var isComplete = false
    unsafe output.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { target in
      unsafe body.withUnsafeReadableBytes { source in
        let count = unsafe ZSTD_compress2(context, target.baseAddress, target.count, source.baseAddress, source.count)
        isComplete = ZSTD_isError(count) == 0
        return isComplete ? count : 0
      }
    }
    return isComplete ? output : nil
  }
}
