package import CarabinerWire

/// A JSON Schema (draft 2020-12): the vocabulary configurations are described with.
///
/// Keywords it does not know are ignored, as the specification wants; a `$ref` it cannot follow is an error of the schema.
package struct JSONSchema: Sendable {
  /// A place where a value breaks its schema.
  package struct Violation: Sendable, Hashable {
    /// The place in the value.
    package let pointer: JSONPointer
    /// The keyword that is broken.
    package let keyword: String
    /// What is wrong and what would be right, for a person.
    package let message: String
  }

  /// A schema cannot be used.
  package struct Fault: Error, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    package let description: String
  }

  /// How many schemas may be entered on the way to one value; a cycle of references ends here.
  private static let maximumDepth = 200

  private let root: JSONValue

  /// Reads a schema.
  ///
  /// - Throws: ``Fault`` if it is neither an object nor a truth value, a pattern does not compile, or a reference leads nowhere.
  package init(_ schema: JSONValue) throws {
    root = schema
    try check(schema)
  }

  /// Everything in `value` that breaks the schema; empty if it is valid.
  package func violations(in value: JSONValue) -> [Violation] {
    var violations: [Violation] = []
    validate(value, against: root, at: JSONPointer(), depth: 0, &violations)
    return violations
  }

  // MARK: The schema itself

  private func check(_ schema: JSONValue) throws {
    switch schema {
    case .bool: return
    case .object(let object):
      if let reference = object["$ref"]?.string, target(reference) == nil {
        throw Fault(description: "the reference \(reference) leads nowhere in the schema")
      }
      if let pattern = object["pattern"]?.string { _ = try Self.regex(pattern) }
      for pattern in object["patternProperties"]?.object?.keys ?? [] { _ = try Self.regex(pattern) }
      for key in ["properties", "patternProperties", "$defs", "dependentSchemas"] {
        for (_, inner) in object[key]?.object ?? [:] { try check(inner) }
      }
      for key in ["items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"] {
        if let inner = object[key] { try check(inner) }
      }
      for key in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        for inner in object[key]?.array ?? [] { try check(inner) }
      }
    default: throw Fault(description: "a schema is an object or a truth value, and this is a \(schema.kind)")
    }
  }

  private func target(_ reference: String) -> JSONValue? {
    guard reference.hasPrefix("#"), let pointer = JSONPointer(String(reference.dropFirst())) else { return nil }
    return root[pointer: pointer]
  }

  private static func regex(_ pattern: String) throws -> Regex<AnyRegexOutput> {
    do {
      return try Regex(pattern)
    } catch {
      throw Fault(description: "the pattern \(pattern.debugDescription) does not compile: \(error)")
    }
  }

  // MARK: Values

  private func validate(
    _ value: JSONValue, against schema: JSONValue, at pointer: JSONPointer, depth: Int, _ found: inout [Violation]
  ) {
    guard depth < Self.maximumDepth else {
      return found.append(Violation(pointer: pointer, keyword: "$ref", message: "the schema refers to itself without end"))
    }
    guard case .object(let rules) = schema else {
      if schema == .bool(false) {
        found.append(Violation(pointer: pointer, keyword: "false", message: "nothing may stand here"))
      }
      return
    }
    func apply(_ inner: JSONValue, to value: JSONValue, at place: JSONPointer) {
      validate(value, against: inner, at: place, depth: depth + 1, &found)
    }
    func accepts(_ inner: JSONValue, _ value: JSONValue) -> Bool {
      var inside: [Violation] = []
      validate(value, against: inner, at: pointer, depth: depth + 1, &inside)
      return inside.isEmpty
    }
    func fail(_ keyword: String, _ message: String) {
      found.append(Violation(pointer: pointer, keyword: keyword, message: message))
    }

    if let reference = rules["$ref"]?.string, let inner = target(reference) { apply(inner, to: value, at: pointer) }
    validateKind(value, rules, fail)
    switch value {
    case .number(let number): validateNumber(number, rules, fail)
    case .string(let text): validateText(text, rules, fail)
    case .array(let elements): validateArray(elements, rules, pointer, apply, accepts, fail)
    case .object(let object): validateObject(object, rules, pointer, apply, accepts, fail)
    case .null, .bool: break
    }
    for inner in rules["allOf"]?.array ?? [] { apply(inner, to: value, at: pointer) }
    if let choices = rules["anyOf"]?.array, !choices.contains(where: { accepts($0, value) }) {
      fail("anyOf", "this fits none of the \(choices.count) forms that are allowed here")
    }
    if let choices = rules["oneOf"]?.array {
      let count = choices.filter { accepts($0, value) }.count
      if count != 1 { fail("oneOf", "this fits \(count) of the \(choices.count) forms, and must fit exactly one") }
    }
    if let inner = rules["not"], accepts(inner, value) { fail("not", "this form is ruled out here") }
    if let condition = rules["if"] {
      if let branch = accepts(condition, value) ? rules["then"] : rules["else"] { apply(branch, to: value, at: pointer) }
    }
  }

  private func validateKind(_ value: JSONValue, _ rules: JSONObject, _ fail: (String, String) -> Void) {
    let wanted = rules["type"].map { $0.array?.compactMap(\.string) ?? [$0.string].compactMap(\.self) } ?? []
    if !wanted.isEmpty, !wanted.contains(where: { value.isOfType($0) }) {
      fail("type", "this must be \(wanted.joined(separator: " or ")), and is a \(value.kind)")
    }
    if let choices = rules["enum"]?.array, !choices.contains(where: { $0.means(value) }) {
      let near = Suggestion.text(for: value.string ?? "", among: choices.compactMap(\.string))
      fail("enum", "\(value) is none of \(choices.map(\.description).joined(separator: ", "))\(near)")
    }
    if let only = rules["const"], !only.means(value) { fail("const", "this must be \(only)") }
  }

  private func validateNumber(_ number: JSONNumber, _ rules: JSONObject, _ fail: (String, String) -> Void) {
    let value = number.double
    if let limit = rules["minimum"]?.double, value < limit { fail("minimum", "\(number) is less than \(limit)") }
    if let limit = rules["maximum"]?.double, value > limit { fail("maximum", "\(number) is more than \(limit)") }
    if let limit = rules["exclusiveMinimum"]?.double, value <= limit {
      fail("exclusiveMinimum", "\(number) is not more than \(limit)")
    }
    if let limit = rules["exclusiveMaximum"]?.double, value >= limit {
      fail("exclusiveMaximum", "\(number) is not less than \(limit)")
    }
    if let step = rules["multipleOf"]?.double, step > 0 {
      let quotient = value / step
      if abs(quotient - quotient.rounded()) > 1e-9 * max(1, abs(quotient)) {
        fail("multipleOf", "\(number) is no multiple of \(step)")
      }
    }
  }

  private func validateText(_ text: String, _ rules: JSONObject, _ fail: (String, String) -> Void) {
    let length = text.unicodeScalars.count
    if let limit = rules["minLength"]?.int, length < limit { fail("minLength", "this text is shorter than \(limit)") }
    if let limit = rules["maxLength"]?.int, length > limit { fail("maxLength", "this text is longer than \(limit)") }
    if let pattern = rules["pattern"]?.string, let regex = try? Self.regex(pattern), text.firstMatch(of: regex) == nil {
      fail("pattern", "\(text.debugDescription) does not fit the pattern \(pattern)")
    }
  }

  private func validateArray(
    _ elements: [JSONValue], _ rules: JSONObject, _ pointer: JSONPointer,
    _ apply: (JSONValue, JSONValue, JSONPointer) -> Void, _ accepts: (JSONValue, JSONValue) -> Bool,
    _ fail: (String, String) -> Void
  ) {
    let first = rules["prefixItems"]?.array ?? []
    for (index, inner) in first.enumerated() where index < elements.count {
      apply(inner, elements[index], pointer.appending(index))
    }
    if let inner = rules["items"] {
      for index in elements.indices.dropFirst(first.count) { apply(inner, elements[index], pointer.appending(index)) }
    }
    if let limit = rules["minItems"]?.int, elements.count < limit { fail("minItems", "at least \(limit) elements are needed") }
    if let limit = rules["maxItems"]?.int, elements.count > limit { fail("maxItems", "at most \(limit) elements are allowed") }
    if rules["uniqueItems"]?.bool == true, elements.hasEqualElements { fail("uniqueItems", "two elements are equal") }
    if let inner = rules["contains"] {
      let count = elements.filter { accepts(inner, $0) }.count
      if count < rules["minContains"]?.int ?? 1 { fail("contains", "no element, or too few, has the form that is needed") }
      if let limit = rules["maxContains"]?.int, count > limit {
        fail("maxContains", "more than \(limit) elements have that form")
      }
    }
  }

  private func validateObject(
    _ object: JSONObject, _ rules: JSONObject, _ pointer: JSONPointer,
    _ apply: (JSONValue, JSONValue, JSONPointer) -> Void, _ accepts: (JSONValue, JSONValue) -> Bool,
    _ fail: (String, String) -> Void
  ) {
    let properties = rules["properties"]?.object ?? [:]
    let patterns = (rules["patternProperties"]?.object ?? [:]).compactMap { pattern, inner in
      (try? Self.regex(pattern)).map { ($0, inner) }
    }
    for (key, value) in object {
      let place = pointer.appending(key)
      var isKnown = false
      if let inner = properties[key] {
        isKnown = true
        apply(inner, value, place)
      }
      for (regex, inner) in patterns where key.firstMatch(of: regex) != nil {
        isKnown = true
        apply(inner, value, place)
      }
      if !isKnown, let inner = rules["additionalProperties"] {
        if inner == .bool(false) {
          fail("additionalProperties", "unknown key \(key)\(Suggestion.text(for: key, among: properties.keys))")
        } else {
          apply(inner, value, place)
        }
      }
      if let inner = rules["propertyNames"], !accepts(inner, .string(key)) {
        fail("propertyNames", "\(key.debugDescription) is no name that is allowed here")
      }
    }
    for name in rules["required"]?.array?.compactMap(\.string) ?? [] where !object.contains(name) {
      fail("required", "\(name) is missing")
    }
    for (key, needed) in rules["dependentRequired"]?.object ?? [:] where object.contains(key) {
      for name in needed.array?.compactMap(\.string) ?? [] where !object.contains(name) {
        fail("dependentRequired", "\(key) needs \(name) beside it")
      }
    }
    if let limit = rules["minProperties"]?.int, object.count < limit {
      fail("minProperties", "at least \(limit) members are needed")
    }
    if let limit = rules["maxProperties"]?.int, object.count > limit {
      fail("maxProperties", "at most \(limit) members are allowed")
    }
  }
}

extension JSONValue {
  fileprivate func isOfType(_ name: String) -> Bool {
    switch (self, name) {
    case (.number(let number), "integer"): number.double == number.double.rounded()
    default: kind == name
    }
  }

  /// Equality as JSON Schema means it: numbers by value, objects without order.
  fileprivate func means(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.number(let left), .number(let right)): left.double == right.double
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.means($1) }
    case (.object(let left), .object(let right)):
      left.count == right.count && left.members.allSatisfy { right[$0.key]?.means($0.value) == true }
    default: self == other
    }
  }
}

extension [JSONValue] {
  fileprivate var hasEqualElements: Bool {
    indices.contains { first in self[(first + 1)...].contains { $0.means(self[first]) } }
  }
}
