public import FoundationEssentials

/// The head of an HTTP response.
public struct HTTPURLResponse: Sendable, Hashable {
  /// A version of HTTP.
  public enum Version: String, Sendable, Hashable {
    case http10 = "HTTP/1.0"
    case http11 = "HTTP/1.1"
    case http2 = "HTTP/2"
    case http3 = "HTTP/3"
    case unknown = "HTTP"
  }

  /// The URL of the response, after redirects.
  public var url: URL
  /// The status, 100 to 599.
  public var statusCode: Int
  /// The header fields in order, including duplicates.
  public var headers: HTTPHeaders
  /// The version of HTTP.
  public var httpVersion: Version

  /// Creates a head.
  public init(url: URL, statusCode: Int, headers: HTTPHeaders = [:], httpVersion: Version = .http11) {
    self.url = url
    self.statusCode = statusCode
    self.headers = headers
    self.httpVersion = httpVersion
  }

  /// All header fields as a dictionary; values of one name are joined with a comma.
  public var allHeaderFields: [String: String] { headers.dictionary }

  /// The value of a header, its duplicates joined with a comma.
  public func value(forHTTPHeaderField field: String) -> String? {
    let values = headers.values(for: field)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Whether the status is 200 to 299.
  public var isSuccessful: Bool { (200..<300).contains(statusCode) }
}
