internal import Glibc

/// Copies the bytes of a head, or of trailers, into a block until an empty line ends them.
struct HeadCollector: Sendable {
  /// The bytes of the current line so far.
  private enum Line {
    case nothing
    case carriageReturn
    case text
  }

  private var line = Line.nothing
  /// Whether there was a line before the current one. Empty lines before the first line are skipped.
  private var hasBegun: Bool

  /// - Parameter skipsEmptyLines: Whether empty lines before the first line do not end the head.
  init(skipsEmptyLines: Bool) { hasBegun = !skipsEmptyLines }

  /// Copies bytes up to the end of the head.
  ///
  /// - Parameters:
  ///   - position: The place of the first byte to read. Afterwards it is the place after the last byte that was read.
  ///   - room: The number of bytes that may be read, including skipped ones. It decreases by the number of bytes that were read.
  /// - Returns: Whether the head is complete.
  /// - Throws: ``HTTP1Error`` with ``HTTP1Error/Code/headTooLarge``.
  mutating func read(
    _ bytes: Span<UInt8>, _ position: inout Int, into block: inout HeaderBlock, room: inout Int
  ) throws(HTTP1Error) -> Bool {
    var (start, isComplete) = (position, false)
    while position < bytes.count, !isComplete {
      let end = bytes.firstLineFeed(from: position) ?? bytes.count
      let next = Swift.min(end + 1, bytes.count)
      guard next - position <= room else { throw HTTP1Error(.headTooLarge, "its head exceeds the limit") }
      room -= next - position
      let isEmpty = isEmptyLine(bytes, position..<end)
      isComplete = isEmpty && hasBegun && next > end
      if !isEmpty { hasBegun = true }
      if !hasBegun { start = next }
      if next > end { line = .nothing }
      position = next
    }
    if hasBegun { block.bytes.append(bytes, start..<position) }
    return isComplete
  }

  /// Whether the current line is empty, if these bytes come before its line feed.
  private mutating func isEmptyLine(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    if range.isEmpty { return line != .text }
    if range.count > 1 {
      line = .text
      return false
    }
    line = line == .nothing && bytes[range.lowerBound] == Byte.carriageReturn ? .carriageReturn : .text
    return line == .carriageReturn
  }
}

extension Span<UInt8> {
  /// The index of the first line feed from `start` on; nil if there is none.
  func firstLineFeed(from start: Int) -> Int? {
    unsafe withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress, start < buffer.count,
        let found = unsafe memchr(base + start, Int32(Byte.lineFeed), buffer.count - start)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
  }
}

extension [UInt8] {
  mutating func append(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    unsafe bytes.extracting(range).withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
  }
}
