internal import CarabinerWire

/// Writes the key of a field with arguments: `name(a:1,b:[k:v])`, arguments and the members of objects sorted.
///
/// A string that could be the name of an enum value is written without quotes, because a variable does not distinguish the two. All other
/// strings have quotes, so that different values give different keys.
enum FieldKeyText {
  static func text(_ name: String, _ arguments: [GraphQLDocument.Argument], variables: JSONObject) -> String {
    var values: [(key: String, value: JSONValue)] = []
    for argument in arguments {
      if let value = argument.value.resolved(with: variables) { values.append((argument.name, value)) }
    }
    guard !values.isEmpty else { return name }
    var text = Array(name.utf8)
    append(values, open: "(", close: ")", to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(
    _ members: [(key: String, value: JSONValue)], open: Unicode.Scalar, close: Unicode.Scalar, to text: inout [UInt8]
  ) {
    text.append(UInt8(ascii: open))
    var isFirst = true
    for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      appendString(key, to: &text)
      text.append(UInt8(ascii: ":"))
      append(value, to: &text)
    }
    text.append(UInt8(ascii: close))
  }

  private static func append(_ value: JSONValue, to text: inout [UInt8]) {
    switch value {
    case .string(let string): appendString(string, to: &text)
    case .array(let elements):
      text.append(UInt8(ascii: "["))
      var isFirst = true
      for element in elements {
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        append(element, to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let object):
      if object.isEmpty { return text.append(contentsOf: "[:]".utf8) }
      append(object.members, open: "[", close: "]", to: &text)
    case .null, .bool, .number: text.append(contentsOf: value.description.utf8)
    }
  }

  private static func appendString(_ string: String, to text: inout [UInt8]) {
    let isName =
      string.utf8.first.map { !($0 &- UInt8(ascii: "0") < 10) } ?? false
      && string.utf8.allSatisfy {
        $0 &- UInt8(ascii: "0") < 10 || ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "_")
      }
    if isName, string != "null", string != "true", string != "false" {
      text.append(contentsOf: string.utf8)
    } else {
      JSONWriter.appendString(string, to: &text)
    }
  }
}
