public import FoundationEssentials

/// The head of a response and the stream of its body.
public struct HTTPResponse: Sendable {
  /// Status and headers.
  public var response: HTTPURLResponse
  /// The body in chunks, as they arrive from the network.
  public var chunks: PullStream<Data>

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
    return HTTPResponse(response: head, chunks: chunks.map { try await transform(head, $0) })
  }
}
