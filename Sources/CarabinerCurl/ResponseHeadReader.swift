internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials

/// Parses the header lines from libcurl into a response head, and skips lines that belong to other responses.
///
/// libcurl delivers header lines almost unchanged. Lines that another reader of the head could read differently are rejected, such as
/// lines with control characters or invalid names.
struct ResponseHeadReader {
  /// The fault of a line.
  struct Malformed: Error {
    let reason: String
  }

  private enum State {
    case statusLine
    case fields
    case body
  }

  private var state = State.statusLine
  private var status = 0
  private var fields: [(name: String, value: [UInt8])] = []

  /// Whether the head of the final response is complete. Body and trailers follow.
  var isComplete: Bool { state == .body }

  private static let usualFieldCount = 12
  private static let versions = ["HTTP/1.1", "HTTP/2", "HTTP/1.0", "HTTP/3"]

  /// Reads a line, its end included.
  ///
  /// - Returns: The head, with the empty line that completes it; nil before that, and for heads of 1xx responses and for
  ///   trailers.
  mutating func read(
    _ line: UnsafeRawBufferPointer, url: URL, version: @autoclosure () -> HTTPURLResponse.Version
  ) throws(Malformed) -> HTTPURLResponse? {
    var count = line.count
    if count > 0, unsafe line[count - 1] == 10 { count -= 1 }
    if count > 0, unsafe line[count - 1] == 13 { count -= 1 }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: line[..<count])
    switch state {
    case .statusLine:
      // Some servers send an extra empty line between responses.
      guard count > 0 else { return nil }
      status = try unsafe Self.status(in: bytes)
      fields.removeAll(keepingCapacity: true)
      fields.reserveCapacity(Self.usualFieldCount)
      state = .fields
    case .fields where count == 0:
      return try complete(url: url, version: version())
    case .fields:
      try unsafe readField(bytes)
    case .body:
      break
    }
    return nil
  }

  private mutating func complete(url: URL, version: HTTPURLResponse.Version) throws(Malformed) -> HTTPURLResponse? {
    guard status >= 200 else {
      guard status != 101 else { throw Malformed(reason: "it switches to another protocol, which was not requested") }
      state = .statusLine
      return nil
    }
    state = .body
    try checkLength()
    var headers = HTTPHeaders()
    headers.reserve(fields.count, bytes: 0)
    for (name, value) in fields { headers.append(received: name.utf8Span.span, value.span) }
    return HTTPURLResponse(url: url, statusCode: status, headers: headers, httpVersion: version)
  }

  /// Rejects a length that is not a number, and different lengths.
  private func checkLength() throws(Malformed) {
    var length: String?
    for field in fields where field.name.isSameHeaderName(as: "Content-Length") {
      let value = String(decoding: field.value, as: UTF8.self)
      guard length == nil || length == value else { throw Malformed(reason: "it declares several lengths") }
      length = value
    }
    if let length, !length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || Int64(length) == nil {
      throw Malformed(reason: "it declares a length that is not a number: \(length.prefix(40).debugDescription)")
    }
  }

  private mutating func readField(_ line: UnsafeRawBufferPointer) throws(Malformed) {
    guard unsafe !line.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
      throw Malformed(reason: "a header has a CR, LF or NUL in it")
    }
    if let last = fields.indices.last, unsafe line[0] == 0x20 || line[0] == 9 {
      // RFC 9112, 5.2: a continuation line belongs to the value before it, joined by a space.
      let rest = unsafe Array(Self.trimmed(line[...]))
      fields[last].value += fields[last].value.isEmpty ? rest : [0x20] + rest
      return
    }
    guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      unsafe line[..<colon].allSatisfy(\.isTokenByte)
    else {
      throw unsafe Malformed(reason: "a header has no name: \(String(decoding: line.prefix(40), as: UTF8.self).debugDescription)")
    }
    let name = unsafe String(decoding: line[..<colon], as: UTF8.self)
    fields.append((name: name, value: unsafe Array(Self.trimmed(line[(colon + 1)...]))))
  }

  private static func status(in line: UnsafeRawBufferPointer) throws(Malformed) -> Int {
    guard let space = unsafe line.firstIndex(of: 0x20) else { throw Malformed(reason: "it has no status") }
    let version = unsafe line[..<space]
    guard versions.contains(where: { unsafe version.elementsEqual($0.utf8) }) else {
      throw Malformed(reason: "it has no version of HTTP that is known")
    }
    let digits = unsafe line[(space + 1)...].prefix { (0x30...0x39).contains($0) }
    let status = unsafe digits.prefix(4).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard (100...999).contains(status) else { throw Malformed(reason: "its status is not a number from 100 to 999") }
    return status
  }

  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var bytes = unsafe bytes
    while let first = unsafe bytes.first, first == 0x20 || first == 9 { unsafe bytes = bytes.dropFirst() }
    while let last = unsafe bytes.last, last == 0x20 || last == 9 { unsafe bytes = bytes.dropLast() }
    return unsafe bytes
  }
}
