internal import CarabinerWire

extension ResponseLoader {
  /// The references from a policy for a field that is in no response.
  func reference(_ field: SelectionVariant.Field, _ record: Record) -> [UInt8]? {
    guard policy.findsObjects, field.selection != nil else { return nil }
    let type = typeName(of: record)
    let variables = plan.completed(variables)
    if let policy = policy.fieldPolicies["\(type).\(field.name)"] {
      return Self.reference(policy, policy.keyArguments.map { Self.value(at: $0, of: field.arguments, variables) })
    }
    guard let resolver = policy.fieldResolver else { return nil }
    var arguments = JSONObject()
    for argument in field.arguments { arguments[argument.name] = argument.value.resolved(with: variables) }
    return resolver.resolve(FieldResolver.Field(type: type, name: field.name, arguments: arguments)).map(Self.text)
  }

  /// The value of an argument, or of a member of an input object, such as `input.name`; for a list of objects, the values of all
  /// elements.
  private static func value(
    at path: String, of arguments: [GraphQLDocument.Argument], _ variables: JSONObject
  ) -> JSONValue? {
    let steps = path.split(separator: ".")
    let argument = arguments.first { $0.name == steps.first.map(String.init) }?.value.resolved(with: variables)
    return argument.flatMap { member(steps.dropFirst(), of: $0) }
  }

  private static func member(_ steps: ArraySlice<Substring>, of value: JSONValue) -> JSONValue? {
    guard let step = steps.first else { return value }
    switch value {
    case .object(let object): return object[String(step)].flatMap { member(steps.dropFirst(), of: $0) }
    case .array(let elements):
      let members = elements.compactMap { member(steps, of: $0) }
      return members.count == elements.count ? .array(members) : nil
    case .null, .bool, .number, .string: return nil
    }
  }

  /// The reference for the values of key arguments; if one of them is a list, a reference for each of its elements.
  private static func reference(_ policy: CacheKeyPolicy.FieldPolicy, _ values: [JSONValue?]) -> [UInt8]? {
    var lists: [Int] = []
    for (position, value) in values.enumerated() { if case .array? = value { lists.append(position) } }
    guard let place = lists.first else { return key(of: policy.type, values).map { text(.object(key: $0)) } }
    guard lists.count == 1, case .array(let elements)? = values[place] else { return nil }
    var keys: [String] = []
    for element in elements {
      var values = values
      values[place] = element
      guard let key = key(of: policy.type, values) else { return nil }
      keys.append(key)
    }
    return text(.list(keys: keys))
  }

  private static func text(_ objects: FieldResolver.Objects) -> [UInt8] {
    var text: [UInt8] = []
    switch objects {
    case .object(let key): Normalizer.appendReference(key, to: &text)
    case .list(let keys):
      text.append(UInt8(ascii: "["))
      for (position, key) in keys.enumerated() {
        if position > 0 { text.append(UInt8(ascii: ",")) }
        Normalizer.appendReference(key, to: &text)
      }
      text.append(UInt8(ascii: "]"))
    }
    return text
  }

  private static func key(of type: String, _ values: [JSONValue?]) -> String? {
    var key = Array("\(type):".utf8)
    for (position, value) in values.enumerated() {
      if position > 0 { key.append(UInt8(ascii: "+")) }
      switch value {
      case .string(let text)?:
        CacheKeyPolicy.appendKeyPart(text.utf8Span.span, isOnlyOne: values.count == 1, to: &key)
      case .number(let number)?:
        CacheKeyPolicy.appendKeyPart(number.lexeme.utf8Span.span, isOnlyOne: values.count == 1, to: &key)
      case .bool(let value)?: key.append(contentsOf: (value ? "true" : "false").utf8)
      case .null?, .array?, .object?, nil: return nil
      }
    }
    return values.isEmpty ? nil : String(decoding: key, as: UTF8.self)
  }
}
