internal import Carabiner
internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1

/// The answer to a mutation in the form in which it is kept: a line of JSON with status and header fields, and the body.
struct StoredAnswer: Sendable, Hashable {
  private static let limits = JSONLimits(maximumDepth: 4)
  private static let lineEnd: UInt8 = 0x0A

  /// The status for clients that accept `application/graphql-response+json`.
  let status: Int
  /// The header fields of the upstream that are returned to the client.
  let fields: [[String]]
  let body: [UInt8]

  init(status: Int, fields: [[String]], body: [UInt8]) { (self.status, self.fields, self.body) = (status, fields, body) }

  /// Reads an answer; nil if it is malformed.
  init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: Self.lineEnd),
      let head = try? JSONValue(parsing: Array(bytes[..<end]), limits: Self.limits),
      let status = head["status"]?.int, (200...599).contains(status), let list = head["fields"]?.array
    else { return nil }
    var fields: [[String]] = []
    for entry in list {
      guard let pair = entry.array?.compactMap(\.string), pair.count == 2,
        HTTPHeaders.Field(name: pair[0], value: pair[1]).isWellFormed
      else { return nil }
      fields.append(pair)
    }
    self.init(status: status, fields: fields, body: Array(bytes[(end + 1)...]))
  }

  var bytes: [UInt8] {
    let head: JSONValue = [
      "status": .number(JSONNumber(status)), "fields": .array(fields.map { .array($0.map { .string($0) }) }),
    ]
    return head.serialized() + [Self.lineEnd] + body
  }
}
