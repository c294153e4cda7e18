internal import Carabiner
internal import CarabinerHTTP1
internal import CarabinerWire
internal import NIOHTTP1

/// Collects the fields of a request's head in HTTP/2, as nghttp2 finds and checks them one after the other.
struct StreamHead {
  /// Heads up to this size are read at least, so that a head above the limit is answered with 431 and only its stream ends.
  private static let minimumReadBytes = 128 << 10
  /// How often a head may exceed the limit on it and is still read.
  private static let readFactor = 4
  /// The size of a field beside its name and value (RFC 9113, 6.5.2).
  private static let fieldOverhead = 32

  private(set) var method = HTTPMethod.GET
  private(set) var target = ""
  /// The fields with names that do not begin with a colon. The authority is the first one, as Host.
  private(set) var headers = Carabiner.HTTPHeaders()
  /// Whether the head exceeds the limits. Further fields are not stored then, except for the origin.
  private(set) var isTooLarge = false
  private var hasAuthority = false
  private var hosts = 0
  private var hasOtherHost = false
  private var hasOrigin = false
  private var size = 0
  private var areTrailers = false

  /// The maximum size of a head that is read, by the definition of RFC 9113, 6.5.2. A larger one ends the connection.
  static func maximumReadBytes(_ limits: GatewayLimits) -> Int { max(minimumReadBytes, readFactor * limits.maximumHeadBytes) }

  /// Begins the trailers, which are discarded.
  mutating func beginTrailers() {
    areTrailers = true
    size = 0
  }

  /// Adds a field.
  ///
  /// - Returns: Whether more is read; false if the head is larger than ``maximumReadBytes(_:)``.
  mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: borrowing GatewayLimits) -> Bool {
    size += name.count + value.count + Self.fieldOverhead
    if !areTrailers {
      if !name.isEmpty, name[0] == UInt8(ascii: ":") { addPseudo(name, value, limits) } else { addField(name, value, limits) }
    }
    return size <= Self.maximumReadBytes(limits)
  }

  /// Adds a field with a name that begins with a colon, and is one of those of requests.
  private mutating func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: borrowing GatewayLimits) {
    guard value.count <= limits.maximumHeadBytes else {
      isTooLarge = true
      return
    }
    guard name.count > 1 else { return }
    switch (name.count, name[1]) {
    case (5, UInt8(ascii: "p")): target = String(value)
    case (7, UInt8(ascii: "m")): method = HTTPMethod(value)
    case (10, UInt8(ascii: "a")):
      hasAuthority = true
      hosts += 1
      headers.append(received: "host".utf8Span.span, value)
    default: break
    }
  }

  private mutating func addField(_ name: Span<UInt8>, _ value: Span<UInt8>, _ limits: borrowing GatewayLimits) {
    switch name.count {
    case 4 where name.isEqualIgnoringCase("host".utf8Span.span):
      // The authority is the first field, because nghttp2 refuses names with a colon after others.
      if hasAuthority {
        if !headers.bytes.span.extracting(headers.valueRange(at: 0)).isEqualIgnoringCase(value) { hasOtherHost = true }
        return
      }
      hosts += 1
    case 6 where name.isEqualIgnoringCase("origin".utf8Span.span):
      // Also if the head is too large: with it, a page of that origin can read the refusal.
      if isTooLarge, !hasOrigin { headers.append(received: name, value) }
      hasOrigin = true
    default: break
    }
    guard !isTooLarge else { return }
    headers.append(received: name, value)
    isTooLarge =
      headers.count > limits.maximumHeadFields || target.utf8.count + headers.byteCount > limits.maximumHeadBytes
  }

  /// Whether exactly one valid host is given, as `:authority` or as Host. If both are present, they must be equal (RFC 9113, 8.3.1).
  var hasValidHost: Bool {
    guard hosts == 1, !hasOtherHost, let index = headers.firstIndex(of: "host") else { return false }
    return Authority.isValid(headers.bytes.span.extracting(headers.valueRange(at: index)))
  }
}

extension String {
  fileprivate init(_ bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
