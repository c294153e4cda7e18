public import Carabiner
public import FoundationEssentials

/// A response that is not a GraphQL response, or that has an error status.
public struct GraphQLHTTPResponseError: DescribedError, Sendable {
  /// The fault of the response.
  public enum ErrorKind: Sendable, Hashable, CustomStringConvertible {
    /// The status is not 200 to 299.
    case errorResponse
    /// The body cannot be parsed.
    case invalidResponse

    public var description: String {
      switch self {
      case .errorResponse: "Received error response"
      case .invalidResponse: "Received invalid response"
      }
    }
  }

  /// The whole body; nil if there is none.
  public let body: Data?
  /// The head.
  public let response: HTTPURLResponse
  /// The fault of the response.
  public let kind: ErrorKind

  /// An error with these parts.
  public init(body: Data? = nil, response: HTTPURLResponse, kind: ErrorKind) {
    self.body = body
    self.response = response
    self.kind = kind
  }

  /// The member `errors` of the body; nil if the body is not a JSON object with a list of errors.
  public var graphQLErrors: [GraphQLError]? {
    guard let body, let entries = try? JSONValue(parsing: [UInt8](body))["errors"]?.array else { return nil }
    return entries.map { GraphQLError($0.object ?? ["message": $0]) }
  }

  /// The body as text.
  public var bodyDescription: String {
    guard let body, !body.isEmpty else { return "[Empty response body]" }
    return String(bytes: body, encoding: .utf8) ?? "[Unreadable response body]"
  }

  /// The kind, and the messages of the errors in the body, one per line; or else the status and the body.
  public var description: String {
    if let errors = graphQLErrors, !errors.isEmpty {
      return "\(kind): \(errors.map(\.description).joined(separator: "\n"))"
    }
    let status = [String(response.statusCode), response.statusText].filter { !$0.isEmpty }.joined(separator: " ")
    return "\(kind) (\(status)): \(bodyDescription)"
  }
}

extension HTTPURLResponse {
  /// The words for the status (RFC 9110, 15); empty for a status without.
  fileprivate var statusText: String { statusTexts[statusCode] ?? "" }
}

private let statusTexts: [Int: String] = [
  200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content", 300: "Multiple Choices",
  301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
  308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
  405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
  410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
  415: "Unsupported Media Type", 417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content",
  426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
  500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
]
