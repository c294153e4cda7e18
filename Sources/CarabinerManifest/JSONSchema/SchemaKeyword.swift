internal import CarabinerWire

/// A keyword of a schema in checked form. Other schemas are identified by their indices.
enum SchemaKeyword: Sendable {
  /// The schema `false`.
  case never
  case type([SchemaType])
  /// The allowed values in canonical form and as written.
  case choices([JSONValue], written: [JSONValue])
  case constant(JSONValue, written: JSONValue)
  case bound(SchemaBound, ExactNumber, written: JSONNumber)
  case multiple(ExactNumber, written: JSONNumber)
  case count(SchemaCount, Int)
  case pattern(SchemaPattern)
  case unique
  case elements(first: [Int], rest: Int?)
  case contains(Int, minimum: Int, maximum: Int?)
  case members(named: [String: Int], fitting: [(SchemaPattern, Int)], others: Int?)
  case names(Int)
  case required([String])
  case requiredWith(String, [String])
  case schemaWith(String, Int)
  case reference(Int)
  case all([Int])
  case any([Int])
  case one([Int])
  case not(Int)
  case condition(Int, then: Int?, otherwise: Int?)

  /// The schemas that apply to the same value and not to a part of it.
  var samePlace: [Int] {
    switch self {
    case .reference(let schema), .not(let schema), .schemaWith(_, let schema): [schema]
    case .all(let schemas), .any(let schemas), .one(let schemas): schemas
    case .condition(let condition, let then, let otherwise): [condition, then, otherwise].compactMap(\.self)
    default: []
    }
  }
}

/// The types of JSON Schema.
enum SchemaType: String, Sendable, CaseIterable {
  case null, boolean, integer, number, string, array, object

  func includes(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.integer, .number(let number)): ExactNumber(number).isInteger
    default: rawValue == value.kind
    }
  }
}

/// The keywords that limit numbers.
enum SchemaBound: String, Sendable, CaseIterable {
  case minimum, maximum, exclusiveMinimum, exclusiveMaximum

  func holds(_ value: ExactNumber, _ limit: ExactNumber) -> Bool {
    switch self {
    case .minimum: value >= limit
    case .maximum: value <= limit
    case .exclusiveMinimum: value > limit
    case .exclusiveMaximum: value < limit
    }
  }

  var text: String {
    switch self {
    case .minimum: "at least"
    case .maximum: "at most"
    case .exclusiveMinimum: "more than"
    case .exclusiveMaximum: "less than"
    }
  }
}

/// The keywords that limit the number of parts of a value.
enum SchemaCount: String, Sendable, CaseIterable {
  case minLength, maxLength, minItems, maxItems, minProperties, maxProperties

  /// The number of parts; nil if the keyword does not apply to such a value.
  func parts(of value: JSONValue) -> Int? {
    switch (self, value) {
    case (.minLength, .string(let text)), (.maxLength, .string(let text)): text.unicodeScalars.count
    case (.minItems, .array(let elements)), (.maxItems, .array(let elements)): elements.count
    case (.minProperties, .object(let object)), (.maxProperties, .object(let object)): object.count
    default: nil
    }
  }

  func holds(_ count: Int, _ limit: Int) -> Bool {
    switch self {
    case .minLength, .minItems, .minProperties: count >= limit
    case .maxLength, .maxItems, .maxProperties: count <= limit
    }
  }

  func text(_ limit: Int) -> String {
    let unit =
      switch self {
      case .minLength, .maxLength: "character"
      case .minItems, .maxItems: "element"
      case .minProperties, .maxProperties: "member"
      }
    return "\(holds(limit + 1, limit) ? "at least" : "at most") \(limit) \(unit)\(limit == 1 ? "" : "s")"
  }
}
