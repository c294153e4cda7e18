internal import CarabinerSchema

extension Generation {
  /// The file with the object types of mocks.
  mutating func mocksFile(_ settings: GeneratorConfiguration.Mocks) -> GeneratedFile {
    var writer = CodeWriter()
    writer.header(importing: [configuration.clientModule], configuration.access)
    if let module = settings.module {
      let level = configuration.access == .internal ? "@testable" : configuration.access.rawValue
      writer.line("\(level) import \(module)")
    }
    let fields = MockFields(definitions, schema: schema)
    var printer = MockPrinter(schema: schema, access: configuration.access, names: names)
    for object in fields.objects { printer.print(object, fields.fields(of: object), to: &writer) }
    problems += printer.problems
    return GeneratedFile(name: settings.file, text: writer.text)
  }
}
