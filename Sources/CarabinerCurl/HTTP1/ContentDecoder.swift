internal import CZlib

/// Decompresses a body in the coding gzip or deflate while it arrives (RFC 9110, 8.4).
///
/// zlib's state is behind a pointer, because zlib keeps the address.
@safe final class ContentDecoder {
  /// The reason why a body cannot be decompressed.
  struct Fault: Error {
    let reason: String
  }

  private enum Coding {
    case gzip
    /// With the header of zlib, or without one, as some servers send it.
    case deflate
  }

  private enum Window {
    static let zlib: Int32 = 15
    static let gzip: Int32 = 15 + 16
    static let raw: Int32 = -15
  }

  /// How many bytes are written at once.
  private static let outputBytes = 32 << 10

  private let coding: Coding
  private let stream: UnsafeMutablePointer<z_stream>
  private let output: UnsafeMutableRawBufferPointer
  private var isInitialized = false
  private var hasBegun = false
  private var hasEnded = false

  /// Creates a decoder for the values of Content-Encoding.
  ///
  /// - Returns: Nil if the body has no coding.
  /// - Throws: ``Fault`` for a coding that was not requested, and for several codings. Each could multiply the size by a thousand, so that
  ///   a few bytes would take hours.
  init?(_ values: [String]) throws(Fault) {
    var coding: Coding?
    for element in values.flatMap({ $0.split(separator: ",") }) {
      let name = element.trimmingPrefix { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased()
      guard !["", "identity", "none"].contains(name) else { continue }
      guard coding == nil else { throw Fault(reason: "it has several codings") }
      switch name {
      case "gzip", "x-gzip": coding = .gzip
      case "deflate": coding = .deflate
      default: throw Fault(reason: "its coding was not requested: \(name.prefix(40).debugDescription)")
      }
    }
    guard let coding else { return nil }
    self.coding = coding
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    unsafe output = .allocate(byteCount: Self.outputBytes, alignment: 1)
  }

  deinit {
    if isInitialized { unsafe _ = inflateEnd(stream) }
    unsafe stream.deallocate()
    unsafe output.deallocate()
  }

  /// Whether the body is complete. An empty one is.
  var isComplete: Bool { hasEnded || !hasBegun }

  /// Decompresses bytes.
  ///
  /// - Parameters:
  ///   - failure: Makes the error for a fault.
  ///   - deliver: Receives the decompressed bytes in parts.
  func decode<Failure: Error>(
    _ bytes: UnsafeRawBufferPointer, failure: (Fault) -> Failure, deliver: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    var rest = unsafe bytes
    var hasMore = false
    while unsafe !rest.isEmpty || hasMore {
      let produced: Int
      do throws(Fault) {
        unsafe try prepare(rest)
        let step = unsafe try inflate(rest)
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
        produced = step.produced
      } catch {
        throw failure(error)
      }
      // A full buffer may mean that zlib holds more.
      hasMore = !hasEnded && produced == Self.outputBytes
      if produced > 0 { unsafe try deliver(UnsafeRawBufferPointer(rebasing: output[..<produced])) }
    }
  }

  /// Chooses the format with the first byte, and begins the next member of gzip.
  private func prepare(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
    guard let first = unsafe bytes.first else { return }
    hasBegun = true
    if !isInitialized {
      // The low half of zlib's first byte is 8. In a raw stream that would be a stored block with unused bits set, which no encoder writes.
      let window = coding == .gzip ? Window.gzip : first & 0x0F == 8 ? Window.zlib : Window.raw
      guard unsafe CZlib_inflateInit(stream, window) == Z_OK else { throw Fault(reason: "there is no memory to decompress it") }
      isInitialized = true
    }
    guard hasEnded else { return }
    guard coding == .gzip, unsafe inflateReset(stream) == Z_OK else {
      throw Fault(reason: "it has bytes behind its compressed end")
    }
    hasEnded = false
  }

  private func inflate(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> (consumed: Int, produced: Int) {
    // zlib counts in 32 bits; a part of a body is far smaller.
    let count = UInt32(clamping: bytes.count)
    unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    unsafe stream.pointee.avail_in = count
    unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.avail_out = UInt32(Self.outputBytes)
    let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
    let consumed = unsafe Int(count - stream.pointee.avail_in)
    let produced = unsafe Self.outputBytes - Int(stream.pointee.avail_out)
    switch status {
    case Z_STREAM_END: hasEnded = true
    // zlib reports that it can go no further after a full buffer whose end was the end of its input.
    case Z_BUF_ERROR where unsafe bytes.isEmpty: break
    case Z_OK where consumed > 0 || produced > 0: break
    default: throw Fault(reason: "its compressed body is damaged [\(status)]")
    }
    return (consumed, produced)
  }
}
