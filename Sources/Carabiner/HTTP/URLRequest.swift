public import FoundationEssentials

/// An HTTP request for a transport.
///
/// Its members have the names of Foundation's `URLRequest`, but it does not use Foundation's networking.
public struct URLRequest: Sendable, Hashable {
  /// The URL, http or https.
  public var url: URL
  /// The method; the default is `POST`.
  public var httpMethod: String
  /// The header fields in order, including duplicates.
  public var headers: HTTPHeaders
  /// The body; nil for none.
  public var body: HTTPBody?
  /// The timeout of the whole exchange in seconds; 0 for the timeout of the transport.
  public var timeoutInterval: TimeInterval
  /// Whether sending the request twice has the same effect as sending it once.
  ///
  /// If a reused connection turns out to be dead, the transport sends an idempotent request again. It sends any other request again
  /// only if no byte of its body was sent. The same applies to each request whose body is a stream. The request of an operation is
  /// idempotent unless the operation is a mutation. For other requests the method decides; POST is not idempotent.
  public var isIdempotent: Bool
  /// Whether a multipart body of the response is read part by part, with a limit for each part.
  ///
  /// The transport limits the whole body of every other response. The chain sets this for its parser.
  public var takesParts = false
  /// Whether the transport asks for a compressed response and decompresses its body; the default is true.
  ///
  /// If false, the body has the bytes that the server sent, and the transport adds no `Accept-Encoding`. The JSON parser reads
  /// uncompressed bodies only.
  public var decodesContent = true

  /// Creates a request.
  public init(
    url: URL, httpMethod: String = "POST", headers: HTTPHeaders = [:], httpBody: Data? = nil,
    timeoutInterval: TimeInterval = 0
  ) {
    self.url = url
    self.httpMethod = httpMethod
    self.headers = headers
    body = httpBody.map { .data($0) }
    self.timeoutInterval = timeoutInterval
    isIdempotent = Self.isIdempotent(httpMethod)
  }

  /// Creates the request of an operation. Changing a variable afterwards would copy the request.
  init(
    url: URL, httpMethod: String, headers: HTTPHeaders, httpBody: Data?, timeoutInterval: TimeInterval, isIdempotent: Bool
  ) {
    self.url = url
    self.httpMethod = httpMethod
    self.headers = headers
    body = httpBody.map { .data($0) }
    self.timeoutInterval = timeoutInterval
    self.isIdempotent = isIdempotent
  }

  /// Whether the request asks for an event stream.
  package var acceptsEvents: Bool { headers["Accept"]?.contains(Self.eventStream) == true }

  /// The media type of an event stream.
  static let eventStream = "text/event-stream"

  /// This request, for a caller that reads a multipart body part by part.
  consuming func takingParts() -> URLRequest {
    takesParts = true
    return self
  }

  /// Whether a method is idempotent (RFC 9110, 9.2.2; QUERY).
  private static func isIdempotent(_ method: String) -> Bool {
    switch method {
    case "POST": false
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY": true
    default: false
    }
  }

  /// The body, if it is in memory; nil if there is none, or if a part of it is read while it is sent. Setting it replaces the body.
  public var httpBody: Data? {
    get { body?.bytesInMemory }
    set { body = newValue.map { .data($0) } }
  }

  /// All header fields as a dictionary; values of one name are joined with a comma.
  public var allHTTPHeaderFields: [String: String]? {
    get { headers.dictionary }
    set { headers = HTTPHeaders((newValue ?? [:]).sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }) }
  }

  /// The value of a header, its duplicates joined with a comma.
  public func value(forHTTPHeaderField field: String) -> String? {
    let values = headers.values(for: field)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Replaces a header; nil removes it.
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    headers[field] = value
  }

  /// Adds a header and keeps the fields already there.
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
    headers.add(name: field, value: value)
  }
}
