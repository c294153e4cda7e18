internal import CarabinerWire

/// One walk through a value and the schemas that apply to it.
struct SchemaVisit {
  /// The most schemas that are applied. A small schema can require exponential work.
  static let maximumSteps = 500_000
  /// The deepest nesting of applied schemas.
  static let maximumDepth = 1000

  private let schemas: [[SchemaKeyword]]
  private var steps = 0
  private var found: [CompiledSchema.Violation] = []
  /// Whether only the result is needed and not the violations.
  private var isSilent = false

  init(_ schemas: [[SchemaKeyword]]) { self.schemas = schemas }

  mutating func violations(in value: JSONValue) -> [CompiledSchema.Violation] {
    _ = check(value, 0, JSONPointer(), 0)
    guard steps <= Self.maximumSteps else {
      let message = "the check takes too long; the schema needs more than \(Self.maximumSteps) steps"
      return [CompiledSchema.Violation(pointer: JSONPointer(), keyword: "$schema", message: message)]
    }
    return found
  }

  private mutating func check(_ value: JSONValue, _ schema: Int, _ place: JSONPointer, _ depth: Int) -> Bool {
    steps += 1
    guard steps <= Self.maximumSteps else { return false }
    guard depth < Self.maximumDepth else {
      return fail("$ref", place, "this is nested too deep for the schema")
    }
    var isValid = true
    for keyword in schemas[schema] {
      if !check(value, keyword, place, depth + 1) { isValid = false }
      if !isValid, isSilent { return false }
    }
    return isValid
  }

  private mutating func accepts(_ value: JSONValue, _ schema: Int, _ place: JSONPointer, _ depth: Int) -> Bool {
    let before = isSilent
    isSilent = true
    defer { isSilent = before }
    return check(value, schema, place, depth)
  }

  private mutating func fail(_ keyword: String, _ place: JSONPointer, _ message: @autoclosure () -> String) -> Bool {
    if !isSilent { found.append(CompiledSchema.Violation(pointer: place, keyword: keyword, message: message())) }
    return false
  }

  private mutating func checkAll(_ value: JSONValue, _ schemas: [Int], _ place: JSONPointer, _ depth: Int) -> Bool {
    schemas.reduce(true) { check(value, $1, place, depth) && $0 }
  }

  private mutating func check(_ value: JSONValue, _ keyword: SchemaKeyword, _ place: JSONPointer, _ depth: Int) -> Bool {
    switch keyword {
    case .never: return fail("false", place, "no value is allowed here; remove it")
    case .type(let types):
      let names = types.map(\.rawValue).joined(separator: " or ")
      return types.contains { $0.includes(value) } || fail("type", place, "this must be \(names), and is \(value.kind)")
    case .choices(let choices, let written):
      return choices.contains(value.canonical) || fail("enum", place, Self.choiceMessage(value, written))
    case .constant(let only, let written): return value.canonical == only || fail("const", place, "this must be \(written)")
    case .bound(let bound, let limit, let written):
      guard case .number(let number) = value else { return true }
      return bound.holds(ExactNumber(number), limit)
        || fail(bound.rawValue, place, "\(number) must be \(bound.text) \(written)")
    case .multiple(let step, let written):
      guard case .number(let number) = value else { return true }
      return ExactNumber(number).isMultiple(of: step) != false
        || fail("multipleOf", place, "\(number) is not a multiple of \(written)")
    case .count(let kind, let limit):
      guard let count = kind.parts(of: value) else { return true }
      return kind.holds(count, limit) || fail(kind.rawValue, place, "this must have \(kind.text(limit)), and has \(count)")
    case .pattern(let pattern):
      guard case .string(let text) = value else { return true }
      return pattern.isFound(in: text)
        || fail("pattern", place, "\(text.debugDescription) does not fit the pattern \(pattern.text)")
    case .unique, .elements, .contains:
      guard case .array(let elements) = value else { return true }
      return check(elements, keyword, place, depth)
    case .members, .names, .required, .requiredWith, .schemaWith:
      guard case .object(let object) = value else { return true }
      return check(object, keyword, place, depth)
    case .reference, .all, .any, .one, .not, .condition: return checkSame(value, keyword, place, depth)
    }
  }

  private static func choiceMessage(_ value: JSONValue, _ choices: [JSONValue]) -> String {
    let near = Suggestion.text(for: value.string ?? "", among: choices.compactMap(\.string))
    return "\(value) is none of \(choices.map(\.description).joined(separator: ", "))\(near)"
  }

  // MARK: Schemas for the same value

  private mutating func checkSame(
    _ value: JSONValue, _ keyword: SchemaKeyword, _ place: JSONPointer, _ depth: Int
  ) -> Bool {
    switch keyword {
    case .reference(let schema): return check(value, schema, place, depth)
    case .all(let schemas): return checkAll(value, schemas, place, depth)
    case .any(let schemas):
      for schema in schemas where accepts(value, schema, place, depth) { return true }
      return failNone("anyOf", value, schemas, place, depth)
    case .one(let schemas):
      var count = 0
      for schema in schemas where accepts(value, schema, place, depth) { count += 1 }
      if count == 0 { return failNone("oneOf", value, schemas, place, depth) }
      return count == 1 || fail("oneOf", place, "this fits \(count) of \(schemas.count) forms, and must fit exactly one")
    case .not(let schema): return !accepts(value, schema, place, depth) || fail("not", place, "this form is not allowed here")
    case .condition(let condition, let then, let otherwise):
      guard let branch = accepts(value, condition, place, depth) ? then : otherwise else { return true }
      return check(value, branch, place, depth)
    default: return true
    }
  }

  /// Reports the problems of the form that was probably meant, or that no form fits.
  private mutating func failNone(
    _ keyword: String, _ value: JSONValue, _ schemas: [Int], _ place: JSONPointer, _ depth: Int
  ) -> Bool {
    guard !isSilent else { return false }
    let before = found
    var meant: [[CompiledSchema.Violation]] = []
    for schema in schemas {
      found = []
      _ = check(value, schema, place, depth)
      let isOfThisKind = !found.contains { $0.pointer == place && ["type", "const", "enum", "false"].contains($0.keyword) }
      if isOfThisKind, !found.isEmpty { meant.append(found) }
    }
    found = before
    if meant.count == 1 {
      found += meant[0]
      return false
    }
    return fail(keyword, place, "this fits none of the \(schemas.count) forms that are allowed here")
  }

  // MARK: Arrays

  private mutating func check(
    _ elements: [JSONValue], _ keyword: SchemaKeyword, _ place: JSONPointer, _ depth: Int
  ) -> Bool {
    switch keyword {
    case .unique:
      var seen: [JSONValue: Int] = [:]
      for (index, element) in elements.enumerated() {
        if let first = seen.updateValue(index, forKey: element.canonical) {
          return fail("uniqueItems", place, "the elements \(first) and \(index) are equal; remove one of them")
        }
      }
      return true
    case .elements(let first, let rest):
      var isValid = true
      for (index, element) in elements.enumerated() {
        guard let schema = index < first.count ? first[index] : rest else { break }
        if !check(element, schema, place.appending(index), depth) { isValid = false }
        if !isValid, isSilent { return false }
      }
      return isValid
    case .contains(let schema, let minimum, let maximum):
      var count = 0
      for (index, element) in elements.enumerated() where accepts(element, schema, place.appending(index), depth) { count += 1 }
      guard count >= minimum else {
        return fail(
          "contains", place,
          "\(count == 0 ? "no element has" : "only \(count) elements have") a form of which \(minimum) must be here")
      }
      guard let maximum, count > maximum else { return true }
      return fail("maxContains", place, "\(count) elements have a form of which at most \(maximum) may be here")
    default: return true
    }
  }

  // MARK: Objects

  private mutating func check(
    _ object: JSONObject, _ keyword: SchemaKeyword, _ place: JSONPointer, _ depth: Int
  ) -> Bool {
    switch keyword {
    case .members(let named, let fitting, let others):
      var isValid = true
      for (key, value) in object {
        if !checkMember(key, value, named, fitting, others, place, depth) { isValid = false }
        if !isValid, isSilent { return false }
      }
      return isValid
    case .names(let schema):
      var isValid = true
      for key in object.keys where !accepts(.string(key), schema, place, depth) {
        isValid = fail("propertyNames", place.appending(key), "\(key.debugDescription) is not an allowed name here")
      }
      return isValid
    case .required(let names):
      var isValid = true
      for name in names where !object.contains(name) {
        isValid = fail("required", place, "\(name) is missing; write it")
      }
      return isValid
    case .requiredWith(let key, let names):
      guard object.contains(key) else { return true }
      var isValid = true
      for name in names where !object.contains(name) {
        isValid = fail("dependentRequired", place, "\(key) needs \(name) beside it")
      }
      return isValid
    case .schemaWith(let key, let schema):
      return !object.contains(key) || check(.object(object), schema, place, depth)
    default: return true
    }
  }

  private mutating func checkMember(
    _ key: String, _ value: JSONValue, _ named: [String: Int], _ fitting: [(SchemaPattern, Int)], _ others: Int?,
    _ place: JSONPointer, _ depth: Int
  ) -> Bool {
    let inner = place.appending(key)
    var applied = fitting.filter { $0.0.isFound(in: key) }.map(\.1)
    if let schema = named[key] { applied.append(schema) }
    guard applied.isEmpty, let others else { return checkAll(value, applied, inner, depth) }
    // The message of a bare `false` would not name the key.
    if schemas[others].contains(where: { if case .never = $0 { true } else { false } }) {
      return fail(
        "additionalProperties", inner,
        "unknown key \(key)\(Suggestion.text(for: key, among: named.keys.sorted())); "
          + (named.isEmpty ? "remove it" : "known are \(named.keys.sorted().joined(separator: ", "))"))
    }
    return check(value, others, inner, depth)
  }
}
