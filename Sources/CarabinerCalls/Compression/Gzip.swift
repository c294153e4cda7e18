internal import CZlib
internal import FoundationEssentials

/// Gzip by zlib.
enum Gzip {
  static func compressed(_ data: Data) throws(ConnectError) -> Data {
    var stream = try ZlibStream(.compress)
    return try stream.run(data, maximumBytes: .max)
  }

  /// - Throws: ``ConnectError``: `resourceExhausted` if the result has more than `maximumBytes`; `internalError` if the data is not gzip,
  ///   or is cut off.
  static func decompressed(_ data: Data, maximumBytes: Int) throws(ConnectError) -> Data {
    var stream = try ZlibStream(.decompress)
    return try stream.run(data, maximumBytes: maximumBytes)
  }
}

/// A stream of zlib, with its state behind a pointer because zlib keeps the address.
@safe private struct ZlibStream: ~Copyable {
  enum Direction {
    case compress
    case decompress
  }

  /// The window of 32 KiB, with the header of gzip.
  private static let windowBits: Int32 = 15 + 16
  /// How many bytes are written at once.
  private static let outputBytes = 64 << 10
  /// How many bytes are read at once; zlib counts in 32 bits.
  private static let inputBytes = 1 << 30

  private let direction: Direction
  private let stream: UnsafeMutablePointer<z_stream>

  init(_ direction: Direction) throws(ConnectError) {
    self.direction = direction
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    let status =
      switch direction {
      case .compress: unsafe CZlib_deflateInit(stream, Z_DEFAULT_COMPRESSION, Self.windowBits)
      case .decompress: unsafe CZlib_inflateInit(stream, Self.windowBits)
      }
    guard status == Z_OK else {
      throw ConnectError(code: .resourceExhausted, message: "zlib has no memory [\(status)]")
    }
  }

  deinit {
    // Both accept a stream that was not initialised.
    switch direction {
    case .compress: unsafe _ = deflateEnd(stream)
    case .decompress: unsafe _ = inflateEnd(stream)
    }
    unsafe stream.deallocate()
  }

  mutating func run(_ data: Data, maximumBytes: Int) throws(ConnectError) -> Data {
    var input = [UInt8](data)
    var output = Data()
    var buffer = [UInt8](repeating: 0, count: Self.outputBytes)
    var consumed = 0
    while true {
      let step = self.step(&input, from: consumed, &buffer)
      consumed += step.consumed
      guard step.produced <= maximumBytes - output.count else { throw .tooLargeDecompressed(maximumBytes) }
      output.append(contentsOf: buffer[..<step.produced])
      switch step.status {
      case Z_STREAM_END where consumed == input.count: return output
      // Gzip may have several members.
      case Z_STREAM_END: guard unsafe inflateReset(stream) == Z_OK else { throw Self.malformed("it cannot be read") }
      case Z_OK, Z_BUF_ERROR:
        guard step.consumed > 0 || step.produced > 0 else { throw Self.malformed("it is cut off") }
      default: throw Self.malformed("it is damaged [\(step.status)]")
      }
    }
  }

  private func step(
    _ input: inout [UInt8], from start: Int, _ output: inout [UInt8]
  ) -> (status: Int32, consumed: Int, produced: Int) {
    let available = min(input.count - start, Self.inputBytes)
    let isLast = start + available == input.count
    let capacity = output.count
    return unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + start }
        unsafe stream.pointee.avail_in = UInt32(available)
        unsafe stream.pointee.next_out = output.baseAddress
        unsafe stream.pointee.avail_out = UInt32(capacity)
        let status =
          switch direction {
          case .compress: unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
          case .decompress: unsafe inflate(stream, Z_NO_FLUSH)
          }
        return unsafe (status, available - Int(stream.pointee.avail_in), capacity - Int(stream.pointee.avail_out))
      }
    }
  }

  private static func malformed(_ reason: String) -> ConnectError {
    ConnectError(code: .internalError, message: "the data is not valid gzip: \(reason)")
  }
}
