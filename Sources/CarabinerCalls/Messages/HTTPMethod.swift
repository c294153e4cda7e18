/// The method of an HTTP request.
public enum HTTPMethod: String, Sendable {
  case get = "GET"
  case post = "POST"
}
