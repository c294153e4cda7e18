/// Names that mean something in Swift or in the client library.
enum SwiftNames {
  /// The name as an identifier, in backticks if it is a keyword.
  static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// The name of a generated type, with an ending if the name has another meaning in generated code.
  static func type(_ name: String, ending: String) -> String {
    let name = Words.capitalized(name)
    return reservedTypes.contains(name) ? "\(name)_\(ending)" : name
  }

  /// The name of a scalar that is represented as a string. If it is the name of a system type, it gets an ending. Otherwise code in
  /// the module could not use the system type.
  static func textScalar(_ name: String) -> String {
    let ending = "Scalar"
    let type = type(name, ending: ending)
    return systemTypes.contains(type) ? "\(type)_\(ending)" : type
  }

  /// Whether a text can be written as a name.
  static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.utf8.first, first &- UInt8(ascii: "0") >= 10, text != "_" else { return false }
    return text.utf8.allSatisfy { byte in
      byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
    }
  }

  /// Properties that generated types have anyway, or that Swift gives another meaning.
  static let reservedProperties: Set<String> = ["hashValue", "__typename", "fragments"]
  /// Properties that operations have anyway.
  static let reservedVariables: Set<String> = [
    "document", "extensions", "hashValue", "operationIdentifier", "operationName", "operationType", "self", "variables",
  ]

  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
    "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
    "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "unsafe", "var", "where", "while",
  ]

  /// Types that generated code uses without a module, and names that are not types.
  private static let reservedTypes: Set<String> = [
    "Any", "AnyMock", "Array", "Bool", "Boxed", "BoxedOptional", "CacheKeyPolicy", "Carabiner", "CaseIterable", "Data",
    "Deferred",
    "Double", "Error", "Float", "Foundation", "Fragments", "FragmentContainer", "GeneratedOperation", "GraphQLEnum",
    "GraphQLFragment",
    "GraphQLMutation", "GraphQLNullable", "GraphQLQuery", "GraphQLSubscription", "GraphQLValue", "Hashable", "ID", "InputObject",
    "Int", "JSONValue", "Mock", "MockField", "MockObject", "MutableObject", "Never", "ObjectReader", "ObjectWriter", "Optional",
    "PossibleTypes", "Protocol", "Result", "SelectionSet", "Self", "Sendable", "Set", "String", "Swift", "Type", "Void", "_",
  ]

  /// Types of the standard library and of Foundation whose names schemas use for scalars.
  private static let systemTypes: Set<String> = [
    "Character", "Date", "DateComponents", "Decimal", "Dictionary", "Duration", "Int64", "Locale", "TimeZone", "UInt", "URL",
    "UUID",
  ]
}
