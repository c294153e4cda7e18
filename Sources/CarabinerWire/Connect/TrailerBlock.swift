/// The trailers at the end of a gRPC-Web body, or in the head of a response without a body.
package struct TrailerBlock: Sendable, Hashable {
  /// The values by name in lower case, in order.
  package let fields: [String: [String]]

  /// Trailers that were in the head.
  package init(_ fields: [String: [String]]) { self.fields = fields }

  /// Reads a block of lines. A line without a name is ignored.
  package init(parsing bytes: [UInt8]) {
    var fields: [String: [String]] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let name = Self.text(line[..<colon])
      guard !name.isEmpty else { continue }
      fields[HeaderFields.lowercased(name), default: []].append(Self.text(line[line.index(after: colon)...]))
    }
    self.fields = fields
  }

  /// The number of the status; nil if there is none, or if it is not a number.
  package var status: Int? { fields["grpc-status"]?.first.flatMap { Int($0) } }

  /// Whether there is a status, valid or not.
  package var hasStatus: Bool { fields["grpc-status"] != nil }

  /// The message, decoded; nil if there is none.
  package var message: String? {
    fields["grpc-message"]?.first.map { PercentEncoding.decoded($0.utf8) ?? $0 }
  }

  /// The details of the error. There are none if they are malformed.
  package var details: [ConnectErrorBody.Detail] {
    guard let text = fields["grpc-status-details-bin"]?.first, let bytes = Base64.decoded(text) else { return [] }
    return StatusMessage(parsing: bytes)?.details ?? []
  }

  /// The text without blanks around it, and without the carriage return.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    var bytes = bytes.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
