internal import Glibc

/// Finds lines that begin with two hyphens and a boundary.
///
/// JSON in one line has no line feeds, so `memchr` skips most bytes. Formatted JSON has them too often for one call each, so the
/// bytes after a line feed are searched in blocks. The time is linear: the pattern has only one line feed, at its beginning, so
/// partial matches never overlap.
struct DelimiterSearch: Sendable {
  /// A line feed, two hyphens, the boundary.
  let pattern: [UInt8]

  /// The number of bytes that are checked together.
  private static let block = 128
  /// The number of bytes after a line feed that are searched in blocks.
  private static let stretch = 8 * block

  init(_ boundary: MultipartBoundary) {
    pattern = [0x0A, UInt8(ascii: "-"), UInt8(ascii: "-")] + Array(boundary.description.utf8)
  }

  /// Searches the pattern from `start` on.
  ///
  /// - Returns: Its place and true; or false and the first place where it may begin when more bytes arrive.
  func first(in bytes: Span<UInt8>, from start: Int) -> (place: Int, isFound: Bool) {
    let pattern = pattern.span
    var place = start
    while let lineFeed = Self.lineFeed(in: bytes, from: place) {
      if let visible = Self.visible(pattern, bytes, at: lineFeed) { return (lineFeed, visible == pattern.count) }
      let end = min(lineFeed + Self.stretch, bytes.count)
      if let found = Self.first(pattern, in: bytes, lineFeed + 1..<end) { return found }
      place = end
    }
    return (max(start, bytes.count), false)
  }

  /// The place of the next line feed.
  static func lineFeed(in bytes: Span<UInt8>, from start: Int) -> Int? {
    guard start < bytes.count else { return nil }
    return unsafe bytes.extracting(start...).withUnsafeBytes { bytes in
      guard let first = bytes.baseAddress, let found = unsafe memchr(first, 0x0A, bytes.count) else { return nil }
      return unsafe start + (UnsafeRawPointer(found) - first)
    }
  }

  /// Searches the pattern where lines are short.
  private static func first(_ pattern: Span<UInt8>, in bytes: Span<UInt8>, _ range: Range<Int>) -> (place: Int, isFound: Bool)? {
    var place = range.lowerBound
    while place < range.upperBound {
      if place < bytes.count - block, !mayBegin(inBlockAt: place, of: bytes) {
        place += block
        continue
      }
      let end = min(place + block, range.upperBound)
      while place < end {
        if bytes[place] == 0x0A, let visible = visible(pattern, bytes, at: place) { return (place, visible == pattern.count) }
        place += 1
      }
    }
    return nil
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

  /// The number of the pattern's bytes at `place` up to the end of the bytes; nil if one of them differs.
  @inline(__always) private static func visible(_ pattern: Span<UInt8>, _ bytes: Span<UInt8>, at place: Int) -> Int? {
    let visible = min(pattern.count, bytes.count - place)
    for offset in 0..<visible where bytes[place + offset] != pattern[offset] { return nil }
    return visible
  }
}
