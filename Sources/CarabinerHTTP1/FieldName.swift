/// The names of headers that decide how a message is read, forwarded and stored. Others have no number.
public enum FieldName: UInt8, Sendable, CaseIterable {
  case host, age, te, date, etag, vary, via
  case accept, cookie, expect, server, upgrade, trailer, location, connection, keepAlive, setCookie, userAgent
  case cacheControl, retryAfter, contentType, contentLength, authorization, acceptEncoding, contentEncoding, transferEncoding

  /// The number of a name in any case.
  ///
  /// - Returns: Nil if it has none.
  public init?(_ name: String) { self.init(name.utf8Span.span) }

  /// The number of a name in any case.
  ///
  /// - Returns: Nil if it has none.
  public init?(_ name: Span<UInt8>) {
    guard let known = KnownNames.shared.name(name, at: 0..<name.count) else { return nil }
    self = known
  }

  /// The name in lower case.
  public var text: StaticString {
    switch self {
    case .host: "host"
    case .age: "age"
    case .te: "te"
    case .date: "date"
    case .etag: "etag"
    case .vary: "vary"
    case .via: "via"
    case .accept: "accept"
    case .cookie: "cookie"
    case .expect: "expect"
    case .server: "server"
    case .upgrade: "upgrade"
    case .trailer: "trailer"
    case .location: "location"
    case .connection: "connection"
    case .keepAlive: "keep-alive"
    case .setCookie: "set-cookie"
    case .userAgent: "user-agent"
    case .cacheControl: "cache-control"
    case .retryAfter: "retry-after"
    case .contentType: "content-type"
    case .contentLength: "content-length"
    case .authorization: "authorization"
    case .acceptEncoding: "accept-encoding"
    case .contentEncoding: "content-encoding"
    case .transferEncoding: "transfer-encoding"
    }
  }
}
