/// One part of a multipart body.
public struct MultipartPart: Sendable, Hashable {
  /// A header of a part.
  public struct Header: Sendable, Hashable {
    /// The name, in its original case.
    public let name: String
    /// The value, without the white space around it.
    public let value: String

    /// Creates a header.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The part's headers, in order.
  public let headers: [Header]
  /// The part's bytes.
  public let body: [UInt8]

  /// Creates a part.
  public init(headers: [Header], body: [UInt8]) {
    self.headers = headers
    self.body = body
  }

  /// The first value of a header, whose name is given in lower case.
  public func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
}

extension MultipartPart.Header {
  /// Parses a line; nil if it is not a header.
  init?(line: ArraySlice<UInt8>) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    name = Self.text(line[..<colon])
    value = Self.text(line[(colon + 1)...])
    // Names are visible ASCII.
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
  }

  /// Returns the header with a continuation line appended.
  func continued(by line: ArraySlice<UInt8>) -> Self { Self(name: name, value: "\(value) \(Self.text(line))") }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes.drop(while: \.isBlank)
    while bytes.last?.isBlank == true { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
