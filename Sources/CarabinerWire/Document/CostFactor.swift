/// The factor that the value of an argument is. A value that is not a number above one does not make the fields below cheaper.
package enum CostFactor {
  static func of(_ value: JSONValue) -> Double { value.number.map { of($0.double) } ?? value.string.map { of($0) } ?? 1 }

  package static func of(_ value: GraphQLDocument.Value) -> Double {
    switch value {
    case .int(let number), .float(let number): of(number.double)
    case .string(let text): of(text)
    case .variable, .boolean, .null, .enumeration, .list, .object: 1
    }
  }

  /// Some servers take text for a number, with spaces around it, and with the digits of other scripts and underscores as Python does.
  private static func of(_ text: String) -> Double {
    var plain = ""
    for character in text where !character.isWhitespace && character != "_" {
      if let digit = character.wholeNumberValue { plain += String(digit) } else { plain.append(character) }
    }
    return of(Double(plain) ?? 1)
  }

  private static func of(_ value: Double) -> Double { value > 1 ? min(value, Cost.highest) : 1 }
}
