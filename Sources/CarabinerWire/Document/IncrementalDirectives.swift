internal import Glibc

extension String {
  /// Whether the document may use `@defer` or `@stream`.
  ///
  /// The document is not parsed, so a directive in a string or a comment counts too. An empty document is known only to the server, by
  /// its hash or its id, so it counts.
  package var mayBeIncremental: Bool {
    // The search is in each request, and most documents have no directive.
    let hasSign = unsafe utf8.withContiguousStorageIfAvailable { bytes in
      guard let first = bytes.baseAddress else { return false }
      return unsafe memchr(first, Int32(UInt8(ascii: "@")), bytes.count) != nil
    }
    if hasSign == false { return isEmpty }
    let document = utf8Span.span
    var place = 0
    while let sign = document.place(ofSignFrom: place) {
      place = document.nameStart(from: sign + 1)
      if document.hasName("defer", at: place) || document.hasName("stream", at: place) { return true }
    }
    return document.isEmpty
  }
}

extension Span<UInt8> {
  /// The place of the next `@`; nil if there is none.
  fileprivate func place(ofSignFrom start: Int) -> Int? {
    unsafe withUnsafeBufferPointer { bytes in
      guard start < bytes.count, let first = bytes.baseAddress,
        let found = unsafe memchr(first + start, Int32(UInt8(ascii: "@")), bytes.count - start)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(first)
    }
  }

  /// The place after white space, commas, marks and comments, which the grammar allows between the sign of a directive and its name.
  fileprivate func nameStart(from start: Int) -> Int {
    var place = start
    while place < count {
      switch self[place] {
      case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), 0xEF, 0xBB, 0xBF: place += 1
      case UInt8(ascii: "#"): while place < count, self[place] != 0x0A, self[place] != 0x0D { place += 1 }
      default: return place
      }
    }
    return place
  }

  /// Whether this whole name is at a place.
  fileprivate func hasName(_ name: String, at place: Int) -> Bool {
    let (name, end) = (name.utf8Span.span, place + name.utf8.count)
    guard end <= count else { return false }
    for offset in name.indices where self[place + offset] != name[offset] { return false }
    return end == count || !GraphQLLexer.continuesName(self[end])
  }
}
