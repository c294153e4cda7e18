import CarabinerPipeline
import Foundation

/// Adds a header to each request, and prints requests and responses.
final class RequestJournal: HTTPNetworkTransportPreflightDelegate, HTTPNetworkTransportTaskCompletedDelegate {
  func networkTransport(_ networkTransport: HTTPNetworkTransport, shouldSend request: CarabinerPipeline.URLRequest) -> Bool {
    print("may be sent to \(request.url.path)")
    return true
  }

  func networkTransport(_ networkTransport: HTTPNetworkTransport, willSend request: inout CarabinerPipeline.URLRequest) {
    request.setValue(UUID().uuidString, forHTTPHeaderField: "X-Request-Id")
    print("sent with \(request.httpMethod)")
  }

  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, didCompleteRawTaskForRequest request: CarabinerPipeline.URLRequest,
    withData data: Data?, response: CarabinerPipeline.URLResponse?, error: (any Error)?
  ) {
    print("status \(response?.statusCode ?? 0)")
  }
}
