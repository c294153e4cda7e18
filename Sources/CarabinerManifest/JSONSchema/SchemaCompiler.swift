internal import CarabinerWire

/// Reads a schema into keywords. Every schema in it is read once, however many references point to it.
struct SchemaCompiler {
  private typealias Fault = CompiledSchema.Fault

  private let root: JSONValue
  private var schemas: [[SchemaKeyword]] = []
  private var indices: [JSONPointer: Int] = [:]
  /// Schemas that have an index but whose keywords are not read yet.
  private var open: [(index: Int, pointer: JSONPointer)] = []

  /// Keywords that cannot be ignored because they change the result, with the keywords to use instead.
  private static let unsupported = [
    "unevaluatedProperties": "additionalProperties", "unevaluatedItems": "items", "$dynamicRef": "$ref", "$recursiveRef": "$ref",
  ]

  private init(_ root: JSONValue) { self.root = root }

  static func compile(_ root: JSONValue) throws -> [[SchemaKeyword]] {
    var compiler = SchemaCompiler(root)
    _ = compiler.schema(at: JSONPointer())
    // A work list instead of recursion, because chains of references can have any length.
    while let (index, pointer) = compiler.open.popLast() {
      compiler.schemas[index] = try compiler.keywords(at: pointer)
    }
    try compiler.refuseCycles()
    return compiler.schemas
  }

  private mutating func schema(at pointer: JSONPointer) -> Int {
    if let index = indices[pointer] { return index }
    schemas.append([])
    indices[pointer] = schemas.count - 1
    open.append((schemas.count - 1, pointer))
    return schemas.count - 1
  }

  private mutating func keywords(at pointer: JSONPointer) throws -> [SchemaKeyword] {
    switch root[pointer: pointer] {
    case .bool(let allows)?: return allows ? [] : [.never]
    case .object(let object)?:
      let source = SchemaSource(object: object, pointer: pointer)
      for (key, instead) in Self.unsupported where object.contains(key) {
        throw Fault(pointer: pointer, message: "\(key) is not supported; use \(instead)")
      }
      if !pointer.components.isEmpty, object["$id"]?.string != nil {
        throw Fault(pointer: pointer, message: "an $id inside a schema is not supported; use $defs and $ref")
      }
      return try references(source) + plain(source) + parts(source) + choices(source)
    case let other:
      throw Fault(pointer: pointer, message: "a schema is an object or a truth value, and this is \(other?.kind ?? "nothing")")
    }
  }

  // MARK: Keywords with schemas

  private mutating func references(_ source: SchemaSource) throws -> [SchemaKeyword] {
    guard let reference = try source.text("$ref") else { return [] }
    guard reference.hasPrefix("#"), let text = String(reference.dropFirst()).removingPercentEscapes,
      let pointer = JSONPointer(text), root[pointer: pointer] != nil
    else {
      throw Fault(
        pointer: source.pointer,
        message: "the reference \(reference) leads nowhere; it must be # and a JSON pointer in the schema")
    }
    return [.reference(schema(at: pointer))]
  }

  private mutating func parts(_ source: SchemaSource) throws -> [SchemaKeyword] {
    var keywords: [SchemaKeyword] = []
    let named = try source.members("properties").map { ($0, schema(at: source.place("properties", $0))) }
    let fitting = try source.members("patternProperties").map {
      (try source.pattern($0, "patternProperties"), schema(at: source.place("patternProperties", $0)))
    }
    let others = inner("additionalProperties", source)
    if !named.isEmpty || !fitting.isEmpty || others != nil {
      keywords.append(.members(named: Dictionary(named) { first, _ in first }, fitting: fitting, others: others))
    }
    if let names = inner("propertyNames", source) { keywords.append(.names(names)) }
    for name in try source.members("dependentSchemas") {
      keywords.append(.schemaWith(name, schema(at: source.place("dependentSchemas", name))))
    }
    let first = try several("prefixItems", source) ?? []
    let rest = inner("items", source)
    if !first.isEmpty || rest != nil { keywords.append(.elements(first: first, rest: rest)) }
    if let contained = inner("contains", source) {
      keywords.append(
        .contains(contained, minimum: try source.count("minContains") ?? 1, maximum: try source.count("maxContains")))
    }
    // Mistakes in definitions are reported even if no reference uses them.
    for name in try source.members("$defs") { _ = schema(at: source.place("$defs", name)) }
    return keywords
  }

  private mutating func choices(_ source: SchemaSource) throws -> [SchemaKeyword] {
    var keywords: [SchemaKeyword] = []
    if let all = try several("allOf", source) { keywords.append(.all(all)) }
    if let any = try several("anyOf", source) { keywords.append(.any(any)) }
    if let one = try several("oneOf", source) { keywords.append(.one(one)) }
    if let not = inner("not", source) { keywords.append(.not(not)) }
    let (then, otherwise) = (inner("then", source), inner("else", source))
    if let condition = inner("if", source) {
      keywords.append(.condition(condition, then: then, otherwise: otherwise))
    }
    return keywords
  }

  private mutating func inner(_ key: String, _ source: SchemaSource) -> Int? {
    source.object.contains(key) ? schema(at: source.pointer.appending(key)) : nil
  }

  private mutating func several(_ key: String, _ source: SchemaSource) throws -> [Int]? {
    guard let elements = try source.array(key) else { return nil }
    guard !elements.isEmpty else {
      throw Fault(pointer: source.pointer.appending(key), message: "\(key) needs a schema at least")
    }
    return elements.indices.map { schema(at: source.pointer.appending(key).appending($0)) }
  }

  // MARK: Keywords without schemas

  private func plain(_ source: SchemaSource) throws -> [SchemaKeyword] {
    var keywords: [SchemaKeyword] = []
    if let types = try source.types() { keywords.append(.type(types)) }
    if let choices = try source.array("enum") { keywords.append(.choices(choices.map(\.canonical), written: choices)) }
    if let only = source.object["const"] { keywords.append(.constant(only.canonical, written: only)) }
    for bound in SchemaBound.allCases {
      if let number = try source.number(bound.rawValue) { keywords.append(.bound(bound, ExactNumber(number), written: number)) }
    }
    if let number = try source.number("multipleOf") {
      let step = ExactNumber(number)
      guard step.isPositive, step.isMultiple(of: step) != nil else {
        throw Fault(
          pointer: source.pointer.appending("multipleOf"), message: "\(number) must be more than 0 and have at most 18 digits")
      }
      keywords.append(.multiple(step, written: number))
    }
    for count in SchemaCount.allCases {
      if let limit = try source.count(count.rawValue) { keywords.append(.count(count, limit)) }
    }
    if let pattern = try source.text("pattern") { keywords.append(.pattern(try source.pattern(pattern, "pattern"))) }
    if try source.truth("uniqueItems") == true { keywords.append(.unique) }
    if let names = try source.names("required") { keywords.append(.required(names)) }
    let dependent = try source.inside("dependentRequired")
    for name in dependent.object.keys { keywords.append(.requiredWith(name, try dependent.names(name) ?? [])) }
    return keywords
  }

  // MARK: Cycles

  /// Rejects references that lead back to themselves without descending into the value. Checking them would never end.
  private func refuseCycles() throws {
    var left = Set(schemas.indices)
    let edges = schemas.map { $0.flatMap(\.samePlace) }
    // A schema without references to remaining schemas is not on a cycle.
    while true {
      let ends = left.filter { !edges[$0].contains(where: left.contains) }
      if ends.isEmpty { break }
      left.subtract(ends)
    }
    guard let cyclic = left.min(), let place = indices.first(where: { $0.value == cyclic })?.key else { return }
    throw Fault(pointer: place, message: "the schema refers to itself without end")
  }
}
