internal import Carabiner
internal import FoundationEssentials

/// Makes a response head of the lines libcurl hands over, and passes over those that are not the answer.
struct ResponseHeadReader {
  private var status = 0
  private var fields: [HTTPHeaders.Field] = []
  private var isBodyNext = false

  private static let usualFieldCount = 12

  /// Reads a line, its end included.
  ///
  /// - Returns: The head, with the empty line that completes it; nil before that, and for heads of 1xx responses and for
  ///   trailers.
  mutating func read(
    _ line: UnsafeRawBufferPointer, url: URL, version: @autoclosure () -> HTTPURLResponse.Version
  ) -> HTTPURLResponse? {
    guard !isBodyNext else { return nil }
    var count = line.count
    while count > 0, unsafe line[count - 1] == 13 || line[count - 1] == 10 { count -= 1 }
    if count == 0 { return complete(url: url, version: version()) }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: line[..<count])
    if unsafe bytes.starts(with: "HTTP/".utf8) {
      status = unsafe Self.status(in: bytes)
      fields.removeAll(keepingCapacity: true)
      fields.reserveCapacity(Self.usualFieldCount)
    } else if let colon = unsafe bytes.firstIndex(of: UInt8(ascii: ":")) {
      let name = unsafe String(decoding: bytes[..<colon], as: UTF8.self)
      let value = unsafe String(decoding: Self.trimmed(bytes[(colon + 1)...]), as: UTF8.self)
      fields.append(HTTPHeaders.Field(name: name, value: value))
    }
    return nil
  }

  private mutating func complete(url: URL, version: HTTPURLResponse.Version) -> HTTPURLResponse? {
    guard status >= 200 else { return nil }
    isBodyNext = true
    return HTTPURLResponse(url: url, statusCode: status, headers: HTTPHeaders(fields), httpVersion: version)
  }

  private static func status(in line: UnsafeRawBufferPointer) -> Int {
    guard let space = unsafe line.firstIndex(of: 0x20) else { return 0 }
    return unsafe line[(space + 1)...].prefix { (0x30...0x39).contains($0) }.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var bytes = unsafe bytes
    while let first = unsafe bytes.first, first == 0x20 || first == 9 { unsafe bytes = bytes.dropFirst() }
    while let last = unsafe bytes.last, last == 0x20 || last == 9 { unsafe bytes = bytes.dropLast() }
    return unsafe bytes
  }
}
