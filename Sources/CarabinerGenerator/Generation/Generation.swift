internal import CarabinerSchema
internal import CarabinerWire

/// One run of the generator over valid documents.
struct Generation {
  let schema: Schema
  let definitions: Definitions
  let policy: StorePolicy
  let configuration: GeneratorConfiguration
  var problems: [GeneratorProblem] = []
  var names: TypeNames
  private var document: SentDocument
  private var persisted = PersistedDocuments()
  private var shapes: [String: ObjectShape] = [:]
  private var operationShapes: [String: ObjectShape] = [:]
  private var sizes = ShapeSizes(fragments: [:])

  private var naming: Naming { names.naming }

  init(schema: Schema, definitions: Definitions, policy: StorePolicy, configuration: GeneratorConfiguration) {
    self.schema = schema
    self.definitions = definitions
    self.policy = policy
    self.configuration = configuration
    names = TypeNames(schema: schema, naming: Naming(configuration))
    document = SentDocument(definitions, schema: schema)
  }

  mutating func files(of sources: [DocumentSource]) -> [GeneratedFile] {
    findShapes()
    guard problems.isEmpty else { return [] }
    var files: [GeneratedFile] = []
    var operations = Dictionary(grouping: definitions.operations) { $0.place.file }
    var fragments = Dictionary(grouping: definitions.fragments) { $0.place.file }
    for source in sources {
      let own = (operations.removeValue(forKey: source.file) ?? [], fragments.removeValue(forKey: source.file) ?? [])
      if own.0.isEmpty, own.1.isEmpty { continue }
      files.append(file(source.file + ".swift", own.0, own.1))
    }
    if files.isEmpty { return [] }
    let types = schemaTypes()
    if let file = typesFile(types) { files.append(file) }
    files.append(configurationFile())
    if let settings = configuration.persistedDocuments {
      files.append(GeneratedFile(name: settings.file, text: persisted.text(settings.format)))
    }
    checkNames(types)
    if let settings = configuration.mocks { files.append(mocksFile(settings)) }
    return files
  }

  private mutating func findShapes() {
    var builder = ShapeBuilder(schema: schema, definitions: definitions, configuration: configuration)
    for fragment in definitions.fragments { shapes[naming.fragment(fragment.name)] = builder.shape(of: fragment) }
    for operation in definitions.operations { operationShapes[operation.name] = builder.shape(of: operation) }
    sizes = ShapeSizes(fragments: shapes)
    problems += builder.problems
    checkCosts()
    if let problem = builder.walk.problem { problems.append(problem) }
  }

  private mutating func checkCosts() {
    var costs = ReadingCost(fragments: shapes)
    let named = definitions.fragments.map { (shapes[naming.fragment($0.name)], $0.place) }
    for (shape, place) in definitions.operations.map({ (operationShapes[$0.name], $0.place) }) + named {
      guard let shape, costs.highest(in: shape) > ReadingCost.maximum else { continue }
      problems.append(
        place.problem(
          "an object would have more than \(ReadingCost.maximum) members with those of its fragments; spread each fragment in one place"
        ))
    }
  }

  // MARK: Documents

  private mutating func file(
    _ name: String, _ operations: [OperationNode], _ fragments: [FragmentDefinitionNode]
  ) -> GeneratedFile {
    var writer = CodeWriter()
    writer.header(importing: [configuration.clientModule], configuration.access)
    let mutableFragments = Set(definitions.fragments.filter(\.isLocal).map { naming.fragment($0.name) })
    for operation in operations {
      guard let shape = operationShapes[operation.name] else { continue }
      writer.emptyLine()
      var printer = OperationPrinter(schema: schema, access: configuration.access, names: names)
      let text = document.text(of: operation)
      let hash = SentDocument.hash(text)
      if !operation.isLocal {
        let type = operation.definition.type.rawValue
        persisted.add(PersistedDocuments.Operation(name: operation.name, type: type, text: text, hash: hash))
      }
      printer.print(operation, document: text, hash: hash, to: &writer) { names, writer in
        var objects = ObjectPrinter(
          access: configuration.access, names: names, sizes: sizes, mutableFragments: operation.isLocal ? mutableFragments : nil)
        objects.print(shape, to: &writer)
        (names, sizes) = (objects.names, objects.sizes)
      }
      problems += printer.problems
      names = printer.names
    }
    for fragment in fragments {
      guard let shape = shapes[naming.fragment(fragment.name)] else { continue }
      writer.emptyLine()
      writer.documentation(fragment.definition.description)
      let text = SwiftLiteral.rawString(document.text(of: fragment))
      var objects = ObjectPrinter(
        access: configuration.access, names: names, sizes: sizes, mutableFragments: fragment.isLocal ? mutableFragments : nil)
      objects.print(shape, "SelectionSet, GraphQLFragment", constants: ["static let document = \(text)"], to: &writer)
      (names, sizes) = (objects.names, objects.sizes)
    }
    return GeneratedFile(name: name, text: writer.text)
  }
}
