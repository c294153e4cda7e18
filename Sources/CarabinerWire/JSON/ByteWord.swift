extension Span<UInt8> {
  /// Eight bytes as one little-endian number; compiled to a single load.
  @inlinable @inline(__always) package func word(at offset: Int) -> UInt64 {
    let eight = extracting(offset..<offset &+ 8)
    let low = UInt64(eight[0]) | UInt64(eight[1]) << 8 | UInt64(eight[2]) << 16 | UInt64(eight[3]) << 24
    let high = UInt64(eight[4]) | UInt64(eight[5]) << 8 | UInt64(eight[6]) << 16 | UInt64(eight[7]) << 24
    return low | high << 32
  }

  /// Four bytes as a number, as ``word(at:)`` reads eight.
  @inline(__always) func half(at offset: Int) -> UInt32 {
    let four = extracting(offset..<offset &+ 4)
    return UInt32(four[0]) | UInt32(four[1]) << 8 | UInt32(four[2]) << 16 | UInt32(four[3]) << 24
  }
}
