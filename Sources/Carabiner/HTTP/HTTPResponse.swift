public import FoundationEssentials

/// The head of a response and the stream of its body.
public struct HTTPResponse: Sendable {
  /// Status and headers.
  public var response: HTTPURLResponse
  /// The body in chunks, as they arrive from the network.
  public var chunks: PullStream<Data>

  /// The transport's side of the body; nil if the transport passes no bodies on.
  package var source: (any BodySource)?

  /// The length of the body that the server has declared, in bytes; nil if it has declared none.
  package var declaredBytes: Int? { response.headers["Content-Length"].flatMap { Int($0) } }

  /// Creates a response.
  public init(response: HTTPURLResponse, chunks: PullStream<Data>) {
    self.response = response
    self.chunks = chunks
  }

  /// Returns the response with every chunk passed through `transform`.
  public func mapChunks(
    _ transform: @escaping @Sendable (HTTPURLResponse, Data) async throws -> Data
  ) -> HTTPResponse {
    let head = response
    var mapped = self
    mapped.chunks = chunks.map { try await transform(head, $0) }
    return mapped
  }
}

/// The transport's side of a body. Stages cannot change it.
package protocol BodySource: AnyObject, Sendable {
  /// The length of the body as it is read, if the server has declared it; nil for a compressed body.
  ///
  /// - Throws: ``TransportError`` if the body is larger than the limit of the transport.
  var declaredLength: Int? { get throws }

  /// The body is passed on. From now on, few bytes are read ahead, and the time in which the full buffer waits for its reader does not count
  /// for the timeout, up to a maximum.
  ///
  /// - Returns: False if the clock of the timeout cannot be stopped. The body must be collected.
  func beginPassing() -> Bool
}
