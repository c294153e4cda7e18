internal import CZlib
internal import NIOCore

/// Compresses bodies as gzip with zlib, one after the other.
///
/// zlib's state is allocated and not moved, because zlib keeps its address.
@safe final class GzipEncoder {
  /// The window of 32 KiB, with the header of gzip.
  private static let windowBits: Int32 = 15 + 16

  let level: Int
  private let stream: UnsafeMutablePointer<z_stream>

  init?(level: Int) {
    self.level = level
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe CZlib_deflateInit(stream, Int32(level), Self.windowBits) == Z_OK else { return nil }
  }

  deinit {
    // Accepts a stream that was not initialised.
    unsafe _ = deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Compresses a body; nil if it is too large for zlib.
  func compressed(_ body: ByteBuffer) -> ByteBuffer? {
    let bound = unsafe Int(deflateBound(stream, UInt(body.readableBytes)))
    guard body.readableBytes < Int(UInt32.max), bound < Int(UInt32.max), unsafe deflateReset(stream) == Z_OK else { return nil }
    var output = ByteBufferAllocator().buffer(capacity: bound)
    var status = Z_STREAM_ERROR
    unsafe output.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { target in
      unsafe body.withUnsafeReadableBytes { source in
        // zlib does not write to its input.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
          mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe stream.pointee.avail_in = UInt32(source.count)
        unsafe stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(min(target.count, Int(UInt32.max)))
        let capacity = unsafe stream.pointee.avail_out
        status = unsafe deflate(stream, Z_FINISH)
        return unsafe Int(capacity - stream.pointee.avail_out)
      }
    }
    return status == Z_STREAM_END ? output : nil
  }
}
