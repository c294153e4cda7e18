/// Finds a line that begins with two hyphens and a boundary.
///
/// Blocks without a line feed before a hyphen are passed over. What is left takes no longer than the bytes are long either: the
/// pattern begins with the line feed, which it has only once, so that two places where it fits for a while never overlap.
struct DelimiterSearch: Sendable {
  /// A line feed, two hyphens, the boundary.
  let pattern: [UInt8]

  /// Bytes that are looked at together.
  private static let block = 128

  init(_ boundary: MultipartBoundary) {
    pattern = [0x0A, UInt8(ascii: "-"), UInt8(ascii: "-")] + Array(boundary.description.utf8)
  }

  /// Where the pattern begins, from `start` on.
  ///
  /// - Returns: Its place and true, or the first place where it may still begin once there are more bytes, and false.
  func first(in bytes: Span<UInt8>, from start: Int) -> (place: Int, isFound: Bool) {
    let pattern = pattern.span
    var place = start
    while place < bytes.count {
      if place < bytes.count - Self.block, !Self.mayBegin(inBlockAt: place, of: bytes) {
        place += Self.block
        continue
      }
      let end = min(place + Self.block, bytes.count)
      while place < end {
        if bytes[place] == 0x0A {
          let visible = min(pattern.count, bytes.count - place)
          if Self.fits(pattern.extracting(first: visible), bytes, at: place) { return (place, visible == pattern.count) }
        }
        place += 1
      }
    }
    return (place, false)
  }

  // Of loops that only keep the least of some bytes the compiler makes instructions that compare many at once; zero is a hit.

  /// Whether a block may have the beginning of a delimiter.
  @inline(__always) private static func mayBegin(inBlockAt place: Int, of bytes: Span<UInt8>) -> Bool {
    let bytes = bytes.extracting(place..<place &+ block &+ 1)
    var least = UInt8.max
    for offset in 0..<block { least = min(least, bytes[offset] ^ 0x0A) }
    return least == 0 && hasHyphenBehindLineFeed(bytes)
  }

  /// Whether a line in a block begins with a hyphen; texts laid out for people have many lines and few of these.
  private static func hasHyphenBehindLineFeed(_ bytes: Span<UInt8>) -> Bool {
    let (ends, starts) = (bytes.extracting(first: block), bytes.extracting(last: block))
    var least = UInt8.max
    for offset in 0..<block { least = min(least, (ends[offset] ^ 0x0A) | (starts[offset] ^ UInt8(ascii: "-"))) }
    return least == 0
  }

  @inline(__always) private static func fits(_ pattern: Span<UInt8>, _ bytes: Span<UInt8>, at place: Int) -> Bool {
    for offset in pattern.indices where bytes[place + offset] != pattern[offset] { return false }
    return true
  }
}
