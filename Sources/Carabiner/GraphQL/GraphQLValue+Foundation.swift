public import CarabinerWire
public import FoundationEssentials

extension URL: GraphQLValue, ResponseValue {
  public static func json(of value: URL) -> JSONValue? { .string(value.absoluteString) }
}

extension UUID: GraphQLValue, ResponseValue {
  public static func json(of value: UUID) -> JSONValue? { .string(value.uuidString) }
}

extension Decimal: GraphQLValue, ResponseValue {
  public static func json(of value: Decimal) -> JSONValue? { JSONNumber(lexeme: value.description).map { .number($0) } ?? .null }
}

extension Int64: GraphQLValue, ResponseValue {
  public static func json(of value: Int64) -> JSONValue? { .number(JSONNumber(Int(value))) }
}
