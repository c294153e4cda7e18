internal import CarabinerWire

/// Extreme and invalid configurations.
enum HostileConfigurations {
  /// The nesting of the deepest configuration.
  static let depth = 10_000
  private static let longBytes = 10 << 20

  /// Returns configurations that fit no schema, then variants of valid ones with members that are missing, of the wrong type, very long or
  /// very deep.
  static func texts(for schema: String?, seed: UInt64, count: Int) -> [String] {
    let deep = String.copies(depth, of: "[") + String.copies(depth, of: "]")
    var texts = [
      "", " ", "null", "[]", "0", "\"\"", "{", "{}", "{\"\":null}", "{\"a\":1,\"a\":2}", "\u{FEFF}{}", "{\"a\":\(deep)}",
      "{\"a\":\"\(String.copies(longBytes, of: "x"))\"}", "{\"\\u0000\":\"\\u0000\"}",
    ]
    let plain = SampleConfiguration.text(for: schema)
    texts += ConfigurationVariants.texts(for: schema, count: count / 2, seed: seed)
    let start = (try? JSONValue(parsing: plain))?.object ?? JSONObject()
    let declared = schema.flatMap { try? JSONValue(parsing: $0) }?["properties"]?.object?.members.map(\.key) ?? []
    let long = JSONValue.string(String.copies(longBytes, of: "y"))
    let nested = (0..<60).reduce(JSONValue.null) { value, _ in .array([value]) }
    for name in declared {
      for value in [.null, .bool(false), .number(JSONNumber(-1)), .string(""), .array([]), .object([:]), long, nested]
        as [JSONValue]
      {
        var object = start
        object[name] = value
        texts.append(JSONValue.object(object).serializedText)
      }
      var object = start
      object[name] = nil
      texts.append(JSONValue.object(object).serializedText)
    }
    // Random changes of bytes of the sample, as by a disk error or a bad merge.
    var generator = SeededGenerator(seed)
    for _ in 0..<(count / 2) {
      var bytes = Array(plain.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0x20...0x7E, using: &generator)
      }
      texts.append(String(decoding: bytes, as: UTF8.self))
    }
    return texts
  }
}
