public import Carabiner
public import FoundationEssentials

extension URLSessionClient {
  /// A request of a client failed.
  public enum URLSessionClientError: DescribedError, Sendable {
    /// There is no response.
    case noHTTPResponse(request: URLRequest?)
    /// The client was invalidated.
    case sessionInvalidated
    /// The transfer failed. `data` and `response` are the parts that had arrived.
    case networkError(data: Data, response: HTTPURLResponse?, underlying: any Error)
    /// A response in parts has no boundary.
    case missingMultipartBoundary
    /// Never reported: `sessionInvalidated` takes its place.
    case sessionBecameInvalidWithoutUnderlyingError
    /// Never reported: a transfer keeps its data until it ends.
    case dataForRequestNotFound(request: URLRequest?)
    /// Never reported: the parts are read by the parser of the core, whose errors are those of the transfer.
    case cannotParseBoundaryData

    public var description: String {
      switch self {
      case .noHTTPResponse: "there is no response; check the network"
      case .sessionInvalidated: "the client was invalidated; make a new URLSessionClient"
      case .networkError(_, _, let error): "the transfer failed: \(error)"
      case .missingMultipartBoundary: "the response in parts has no boundary; correct the server"
      case .sessionBecameInvalidWithoutUnderlyingError: "the session became invalid; make a new URLSessionClient"
      case .dataForRequestNotFound: "the client has no data of the request; send it again"
      case .cannotParseBoundaryData: "the boundary of the response in parts cannot be read; correct the server"
      }
    }
  }
}

/// Invalidates a client when the provider and the interceptors that share it are released.
final class ClientOwner {
  private let client: URLSessionClient

  init(_ client: URLSessionClient) { self.client = client }

  deinit { client.invalidate() }
}
