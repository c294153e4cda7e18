/// A JSON value for an encoder, which has no numbers with more digits than `Int`, `UInt64` and `Double`.
///
/// ``JSONValue`` itself is not `Encodable`: a call that takes either JSON or an encodable value would be ambiguous.
package struct EncodableJSON: Encodable {
  private let value: JSONValue

  package init(_ value: JSONValue) { self.value = value }

  package func encode(to encoder: any Encoder) throws {
    switch value {
    case .object(let object):
      var container = encoder.container(keyedBy: MemberName.self)
      for (key, value) in object { try container.encode(EncodableJSON(value), forKey: MemberName(stringValue: key)) }
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(EncodableJSON(element)) }
    default:
      var container = encoder.singleValueContainer()
      switch value {
      case .bool(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      case .number(let number):
        if let value = number.int {
          try container.encode(value)
        } else if let value = UInt64(number.lexeme) {
          try container.encode(value)
        } else {
          try container.encode(number.double)
        }
      case .null, .object, .array: try container.encodeNil()
      }
    }
  }

  private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
  }
}
