internal import CarabinerWire
package import FoundationEssentials

/// A response body that no stage reads, and that is passed to the client as it arrives.
///
/// A ``ResponseOutline`` follows it, so that a body that is cut or is not a GraphQL response is an error, and errors are counted. One task at
/// a time reads it, once.
package final class PassedBody: @unchecked Sendable {
  // One consumer at a time uses the properties.

  /// The length of the body: that of a whole body, or the one that the server has declared; nil if it is not known.
  package let length: Int?
  private var ahead: Data?
  /// The rest; nil if there is none.
  private let chunks: PullStream<Data>?
  private var outline: ResponseOutline
  private var count = 0
  /// The first bytes, for errors.
  private let start: Data

  /// - Parameters:
  ///   - ahead: The bytes that were read before.
  ///   - chunks: The rest; nil if there is none.
  /// - Throws: ``ResponseParsingError`` if these bytes show that it is not a GraphQL response. Nothing was passed on then.
  init(_ ahead: Data, followedBy chunks: PullStream<Data>?, length: Int?, limits: ResponseLimits) throws(ResponseParsingError) {
    self.ahead = ahead
    self.chunks = chunks
    self.length = length
    // A copy, because a slice would keep all of the bytes.
    start = Data([UInt8](ahead.prefix(ResponseParsingError.headBytes)))
    outline = ResponseOutline(limits: limits.json)
    try follow(ahead)
    if chunks == nil { try finish() }
  }

  /// Whether the part that was read has had GraphQL errors.
  package var hasErrors: Bool { outline.hasErrors }

  /// The next piece. The last one is returned only if the body is a whole GraphQL response.
  ///
  /// - Throws: ``ResponseParsingError`` if it is not; the error of the transport.
  package func next() async throws -> PullStream<Data>.Step {
    if let piece = ahead {
      ahead = nil
      return chunks == nil ? .last(piece) : .element(piece)
    }
    guard let chunks else { return .end }
    switch try await chunks.pull() {
    case .element(let piece):
      try follow(piece)
      return .element(piece)
    case .last(let piece):
      try follow(piece)
      try finish()
      return .last(piece)
    case .end:
      try finish()
      return .end
    }
  }

  private func follow(_ piece: Data) throws(ResponseParsingError) {
    count += piece.count
    if let length, count > length { throw misfit("it is longer than the \(length) bytes of its Content-Length") }
    guard outline.follow(piece.span) else { throw misfit("its brackets or the members of its outermost object are wrong") }
    // The client has a whole response with the last byte, whatever follows.
    if count == length { try finish() }
  }

  private func finish() throws(ResponseParsingError) {
    if let length, count < length { throw misfit("it has \(count) of the \(length) bytes of its Content-Length") }
    guard outline.isResponse else { throw misfit("it is cut off, or has neither data nor errors") }
  }

  private func misfit(_ fault: String) -> ResponseParsingError { .cannotBePassed(fault, body: start) }
}
