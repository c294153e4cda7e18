import Carabiner
import Foundation

/// Adds a header with a new id to each HTTP request, retries included, and prints the status of the response.
struct RequestIDInterceptor: HTTPInterceptor {
  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    var request = request
    let id = UUID().uuidString
    request.headers["X-Request-Id"] = id
    let response = try await next(request)
    print("request \(id): status \(response.response.statusCode)")
    return response
  }
}
