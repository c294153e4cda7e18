/// Finds lines that begin with two hyphens and a boundary.
///
/// Blocks without a line feed before a hyphen are skipped. The other bytes are searched in linear time: the pattern has only one
/// line feed, at its beginning, so partial matches never overlap.
struct DelimiterSearch: Sendable {
  /// A line feed, two hyphens, the boundary.
  let pattern: [UInt8]

  /// The number of bytes that are checked together.
  private static let block = 128

  init(_ boundary: MultipartBoundary) {
    pattern = [0x0A, UInt8(ascii: "-"), UInt8(ascii: "-")] + Array(boundary.description.utf8)
  }

  /// Searches the pattern from `start` on.
  ///
  /// - Returns: Its place and true; or false and the first place where it may begin when more bytes arrive.
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

  // The compiler vectorises loops that only compute a minimum of bytes. A minimum of zero is a hit.

  /// Whether a block may contain the beginning of a delimiter.
  @inline(__always) private static func mayBegin(inBlockAt place: Int, of bytes: Span<UInt8>) -> Bool {
    let bytes = bytes.extracting(place..<place &+ block &+ 1)
    var least = UInt8.max
    for offset in 0..<block { least = min(least, bytes[offset] ^ 0x0A) }
    return least == 0 && hasHyphenBehindLineFeed(bytes)
  }

  /// Whether a line in a block begins with a hyphen. Formatted texts have many lines, but few of these.
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
