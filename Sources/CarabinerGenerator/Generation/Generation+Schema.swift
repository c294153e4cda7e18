internal import CarabinerSchema
internal import CarabinerWire

extension Generation {
  /// The enumerations, input objects and custom scalars that documents use, in the order of the schema.
  mutating func schemaTypes() -> [Schema.NamedType] {
    var used = names.usedTypes
    var waiting = Array(used)
    while let name = waiting.popLast() {
      guard let type = schema.type(named: name), type.kind == .inputObject else { continue }
      for field in type.inputFields where used.insert(field.type.name).inserted { waiting.append(field.type.name) }
    }
    return schema.types.filter { used.contains($0.name) }
  }

  /// The file with enumerations and input objects; nil if none is used.
  mutating func typesFile(_ types: [Schema.NamedType]) -> GeneratedFile? {
    let types = types.filter { $0.kind == .enumeration || $0.kind == .inputObject }
    if types.isEmpty { return nil }
    var writer = CodeWriter()
    let needsClient = types.contains { $0.kind == .inputObject }
    writer.header(importing: needsClient ? [configuration.clientModule] : [], configuration.access)
    var printer = SchemaTypePrinter(
      schema: schema, configuration: configuration, names: names, cycles: InputCycles(schema))
    for type in types { printer.print(type, to: &writer) }
    names = printer.names
    problems += printer.problems
    return GeneratedFile(name: "SchemaTypes.graphql.swift", text: writer.text)
  }

  /// The file with scalars, and the types of interfaces and unions.
  func configurationFile() -> GeneratedFile {
    let access = configuration.access == .internal ? "" : configuration.access.rawValue + " "
    var writer = CodeWriter()
    let scalars = names.usedTypes.union(["ID"]).filter { schema.type(named: $0)?.kind == .scalar }.sorted()
    var modules = Set(scalars.compactMap { configuration.scalars[$0]?.module })
    if !policy.isEmpty { modules.insert(configuration.clientModule) }
    writer.header(importing: modules.sorted(), configuration.access)
    for name in scalars {
      writer.emptyLine()
      writer.documentation(name == "ID" ? "A unique identifier." : schema.type(named: name)?.description)
      writer.line("\(access)typealias \(names.naming.scalar(name)) = \(configuration.scalars[name]?.type ?? "String")")
    }
    let possible = names.possibleTypes.sorted().compactMap { schema.type(named: $0) }
    if !possible.isEmpty {
      writer.emptyLine()
      writer.line("/// The object types of interfaces and unions.")
      writer.block("enum PossibleTypes") { writer in
        for type in possible {
          let list = schema.possibleTypes(of: type).map { SwiftLiteral.string($0.name) }.sorted()
          writer.list("static let \(names.possible(type.name)): Set<String> = ", list)
        }
      }
    }
    if !policy.isEmpty { printPolicy(access, to: &writer) }
    for name in names.hidden.sorted() {
      writer.emptyLine()
      writer.line("/// Another name of a type that a type inside an object hides.")
      writer.line("\(access)typealias __\(name) = \(name)")
    }
    return GeneratedFile(name: "SchemaConfiguration.graphql.swift", text: writer.text)
  }

  /// Prints the policy for stores. Object types have the key fields of their interfaces, so a store needs no schema.
  private func printPolicy(_ access: String, to writer: inout CodeWriter) {
    let list = { (names: [String]) in "[\(names.map(SwiftLiteral.string).joined(separator: ", "))]" }
    let keys = policy.keyFields.filter { schema.type(named: $0.key)?.kind == .object }.map { type, names in
      "\(SwiftLiteral.string(type)): \(list(names))"
    }
    let fields = policy.fields.map { name, field in
      "\(SwiftLiteral.string(name)): FieldPolicy(type: \(SwiftLiteral.string(field.type)), keyArguments: \(list(field.arguments)))"
    }
    let parts = [("keyFields", keys), ("fieldPolicies", fields)].filter { !$0.1.isEmpty }
    writer.emptyLine()
    writer.begin("extension CacheKeyPolicy")
    writer.line("/// The key fields and the field policies of the schema.")
    writer.block("\(access)static var generated: CacheKeyPolicy") { writer in
      writer.line("CacheKeyPolicy(")
      for (name, entries) in parts {
        writer.list("  \(name): ", entries.sorted(), name == parts.last?.0 ? ")" : ",")
      }
    }
    writer.end()
  }

  // MARK: Names

  /// Reports types at the top level that would have the same name.
  mutating func checkNames(_ types: [Schema.NamedType]) {
    let naming = names.naming
    var known: [String: String] = [:]
    func check(_ name: String, _ what: String, _ key: String, _ place: SourcePlace, _ problems: inout [GeneratorProblem]) {
      if !SwiftNames.isIdentifier(name) {
        problems.append(place.problem("\(what) cannot be a type named \(name); rename it with the key renames: {\(key): NAME}"))
      } else if let other = known.updateValue(what, forKey: name) {
        problems.append(
          place.problem("\(what) and \(other) would both be the type \(name); rename one with the key renames: {\(key): NAME}"))
      }
    }
    for type in types {
      let name =
        switch type.kind {
        case .enumeration: naming.enumeration(type.name)
        case .inputObject: naming.inputObject(type.name)
        default: naming.scalar(type.name)
        }
      check(name, "the type \(type.name)", type.name, SourcePlace(type.location), &problems)
    }
    let mocks = configuration.mocks.map { _ in MockFields(definitions, schema: schema).objects } ?? []
    for type in mocks {
      check(naming.mock(type.name), "the mock of \(type.name)", "Mock<\(type.name)>", SourcePlace(type.location), &problems)
    }
    // Mocks in a module of their own may have the names of fragments and operations. The module's own types hide the imported ones,
    // and mocks use only types of the schema.
    if configuration.mocks?.module != nil {
      for type in mocks { known[naming.mock(type.name)] = nil }
    }
    for fragment in definitions.fragments {
      check(
        naming.fragment(fragment.name), "the fragment \(fragment.name)", Naming.renameKey(ofFragment: fragment.name),
        fragment.place,
        &problems)
    }
    for operation in definitions.operations {
      let name = naming.operation(operation.name, operation.definition.type, isLocal: operation.isLocal)
      check(name, "the operation \(operation.name)", operation.name, operation.place, &problems)
    }
  }
}
