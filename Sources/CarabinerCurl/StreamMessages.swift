/// The messages of libcurl about the HTTP/2 stream of a request.
///
/// libcurl has the same codes for a stream that the server did not process and for one that it may have processed. Only its messages
/// say which. If another version of libcurl words them differently, no stream counts as refused.
struct StreamMessages {
  private static let opened = "Using Stream ID: "
  private static let refused = "REFUSED_STREAM, retrying"
  private static let goneAway = "recveived GOAWAY, "
  private static let lastStream = "last_stream="

  /// The number of the stream; nil before there is one.
  private var stream: Int?
  /// Whether the server has said that it did not process the stream (RFC 9113, 8.7).
  private(set) var isRefused = false

  /// Reads one message.
  mutating func read(_ message: some BidirectionalCollection<UInt8>) {
    if message.starts(with: Self.opened.utf8) {
      // Earlier messages are about another connection, or about a stream before.
      (stream, isRefused) = (Self.number(message.dropFirst(Self.opened.utf8.count)), false)
    } else if message.starts(with: Self.refused.utf8) {
      isRefused = stream != nil
    } else if message.starts(with: Self.goneAway.utf8) {
      // The last field of the message.
      guard let stream, let equals = message.lastIndex(of: UInt8(ascii: "=")),
        message[...equals].suffix(Self.lastStream.utf8.count).elementsEqual(Self.lastStream.utf8),
        let last = Self.number(message[equals...].dropFirst())
      else { return }
      if stream > last { isRefused = true }
    }
  }

  /// The number at the beginning of a text; nil if there is none, or if it has more than 10 digits.
  private static func number(_ text: some Collection<UInt8>) -> Int? {
    let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard (1...10).contains(digits.count) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }
}
