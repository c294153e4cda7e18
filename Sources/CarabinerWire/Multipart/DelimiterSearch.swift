/// Finds a line that begins with two hyphens and a boundary.
///
/// It leaps as Boyer, Moore and Horspool do: the byte under the end of the pattern says how far the pattern may move. Their
/// worst case is quadratic, this one is not: the pattern begins with the line break, which it has only once, so that two
/// places where it fits for a while never overlap.
struct DelimiterSearch: Sendable {
  /// A line feed, two hyphens, the boundary.
  let pattern: [UInt8]
  /// How far the pattern may move when a byte stands under its end.
  private let leaps: [UInt8]

  init(_ boundary: MultipartBoundary) {
    pattern = [0x0A, UInt8(ascii: "-"), UInt8(ascii: "-")] + Array(boundary.description.utf8)
    var leaps = [UInt8](repeating: UInt8(pattern.count), count: 256)
    for (place, byte) in pattern.dropLast().enumerated() { leaps[Int(byte)] = UInt8(pattern.count - 1 - place) }
    self.leaps = leaps
  }

  /// Where the pattern begins, from `start` on.
  ///
  /// - Returns: Its place and true, or the first place where it may still begin once there are more bytes, and false.
  func first(in bytes: Span<UInt8>, from start: Int) -> (place: Int, isFound: Bool) {
    let pattern = pattern.span
    let leaps = leaps.span
    let last = pattern.count - 1
    let end = pattern[last]
    var place = start
    while place + last < bytes.count {
      let byte = bytes[place + last]
      if byte == end, Self.fits(pattern, bytes, at: place) { return (place, true) }
      place += Int(leaps[Int(byte)])
    }
    return (place, false)
  }

  @inline(__always)
  private static func fits(_ pattern: Span<UInt8>, _ bytes: Span<UInt8>, at place: Int) -> Bool {
    for offset in pattern.indices where bytes[place + offset] != pattern[offset] { return false }
    return true
  }
}
