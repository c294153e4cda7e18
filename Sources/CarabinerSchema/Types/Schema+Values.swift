internal import CarabinerWire

extension Schema.NamedType {
  /// Whether a literal is one of a scalar or an enumeration. Scalars of the schema accept each value.
  func accepts(_ value: GraphQLDocument.Value) -> Bool {
    switch (name, value) {
    case _ where kind == .inputObject: false
    case (_, .enumeration(let name)) where kind == .enumeration: self.value(named: name) != nil
    case _ where kind == .enumeration: false
    case ("Int", .int(let number)): Int32(number.lexeme) != nil
    case ("Float", .int(let number)), ("Float", .float(let number)): number.double.isFinite
    case ("String", .string), ("Boolean", .boolean), ("ID", .string), ("ID", .int): true
    default: !isBuiltIn
    }
  }

  /// Whether the value of a variable is one of a scalar or an enumeration. Scalars of the schema accept each value.
  func accepts(_ value: JSONValue) -> Bool {
    switch (name, value) {
    case _ where kind == .inputObject: false
    case (_, .string(let text)) where kind == .enumeration: self.value(named: text)?.name.isExactly(text) ?? false
    case _ where kind == .enumeration: false
    // JSON has one kind of numbers: many servers cannot distinguish 1.0 from 1.
    case ("Int", .number(let number)): number.int.flatMap { Int32(exactly: $0) } != nil
    case ("Float", .number(let number)): number.double.isFinite
    case ("String", .string), ("Boolean", .bool), ("ID", .string): true
    // The specification names 4.0 as a value that is not an ID.
    case ("ID", .number(let number)): !number.lexeme.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    default: !isBuiltIn
    }
  }

  /// Whether the number of fields is valid, and null among them: with `@oneOf`, exactly one field is given, and it is not null.
  func acceptsFields(count: Int, hasNull: @autoclosure () -> Bool) -> Bool { !isOneOf || count == 1 && !hasNull() }
}

extension String {
  /// Whether two texts have the same bytes. Equal strings may differ: the Kelvin sign is equal to the letter K.
  func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
