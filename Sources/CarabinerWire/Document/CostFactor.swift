/// The value of an argument as a factor of a cost. It is at least one, so a value that is not a number does not make the fields
/// below cheaper.
package enum CostFactor {
  static func of(_ value: JSONValue) -> Double { value.number.map { of($0.double) } ?? value.string.map { of($0) } ?? 1 }

  package static func of(_ value: GraphQLDocument.Value) -> Double {
    switch value {
    case .int(let number), .float(let number): of(number.double)
    case .string(let text): of(text)
    case .variable, .boolean, .null, .enumeration, .list, .object: 1
    }
  }

  /// The factor of a text, because some servers read text as a number. As in Python, it may have spaces around it, underscores, and
  /// digits of other scripts.
  private static func of(_ text: String) -> Double {
    var plain = ""
    for character in text where !character.isWhitespace && character != "_" {
      if let digit = character.wholeNumberValue { plain += String(digit) } else { plain.append(character) }
    }
    return of(Double(plain) ?? 1)
  }

  private static func of(_ value: Double) -> Double { value > 1 ? min(value, Cost.highest) : 1 }
}
