extension JSONValue: Decodable {
  /// Decodes any value, for a field of an otherwise typed result.
  ///
  /// Decoders do not provide the order of members and the digits of numbers, so they are lost. ``init(parsing:limits:)`` keeps
  /// both.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: AnyKey.self) {
      var object = JSONObject()
      for key in container.allKeys {
        object[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
      }
      self = .object(object)
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(Int.self) {
        self = .number(JSONNumber(value))
      } else if let value = try? container.decode(UInt64.self) {
        self = .number(JSONNumber(checked: String(value)))
      } else if let number = JSONNumber((try? container.decode(Double.self)) ?? .nan) {
        self = .number(number)
      } else {
        self = .string(try container.decode(String.self))
      }
    }
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
