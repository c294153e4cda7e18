internal import CarabinerGenerator
internal import CarabinerWire
internal import CarabinerYAML

extension GenerationSettings {
  /// Reads a configuration.
  ///
  /// - Parameters:
  ///   - file: The path of the file, for messages.
  ///   - needsDocuments: Whether the documents must be named. They need not if the caller names them.
  /// - Throws: `GeneratorError` with all problems and their places.
  init(reading text: String, file: String, needsDocuments: Bool = true) throws(GeneratorError) {
    let document: YAMLDocument
    do throws(YAMLProblem) {
      document = try YAMLDocument(text)
    } catch {
      throw GeneratorError(problems: [
        GeneratorProblem(
          file: file, line: error.place?.line ?? 1, column: error.place?.column ?? 1,
          message: error.code == .empty ? "the configuration is empty; begin with schema: [schema.graphqls]" : error.message)
      ])
    }
    var reader = SettingsReader(document, file: file)
    self.init(schema: .language([]), documents: [], folder: "")
    read(&reader, needsDocuments)
    guard reader.problems.isEmpty else {
      throw GeneratorError(problems: reader.problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
    }
  }

  private mutating func read(_ reader: inout SettingsReader, _ needsDocuments: Bool) {
    let top = JSONPointer()
    let keys = ["$schema", "schema", "documents", "output", "scalars", "renames"]
    guard let members = reader.object(reader.document.value, top, knowing: keys) else { return }
    if let json = members["schema"] {
      readSchema(json, top.appending("schema"), &reader)
    } else {
      reader.problem(top, "there is no schema; write schema: [schema.graphqls] or schema: {introspection: schema.json}")
    }
    if let json = members["documents"] {
      documents = reader.texts(json, top.appending("documents"))
    } else if needsDocuments {
      reader.problem(top, "there are no documents; write documents: [\"**/*.graphql\"]")
    }
    if let json = members["output"] {
      readOutput(json, top.appending("output"), &reader)
    } else {
      reader.problem(top, "there is no output; write output: {folder: Generated}")
    }
    if let json = members["renames"] { readRenames(json, top.appending("renames"), &reader) }
    // The scalars are read after the output, which may name the module of the client library.
    if let json = members["scalars"] { readScalars(json, top.appending("scalars"), &reader) }
  }

  private mutating func readSchema(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout SettingsReader) {
    guard json.object != nil else {
      schema = .language(reader.texts(json, pointer))
      return
    }
    guard let members = reader.object(json, pointer, knowing: ["introspection"]) else { return }
    guard let file = members["introspection"] else {
      return reader.problem(pointer, "this object names no file; write {introspection: schema.json}")
    }
    if let file = reader.text(file, pointer.appending("introspection")) { schema = .introspection(file) }
  }

  private mutating func readOutput(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout SettingsReader) {
    let keys = ["folder", "beside-documents", "access", "module", "manifest", "mocks"]
    if let folder = json.string {
      return reader.problem(pointer, "output is an object; write output: {folder: \(JSONValue.string(folder))}")
    }
    guard let members = reader.object(json, pointer, knowing: keys) else { return }
    if let json = members["folder"] {
      folder = reader.text(json, pointer.appending("folder"))?.text ?? ""
    } else {
      reader.problem(pointer, "the output has no folder; write folder: Generated")
    }
    if let json = members["beside-documents"] {
      isBesideDocuments = reader.truth(json, pointer.appending("beside-documents")) ?? false
    }
    if let json = members["access"] {
      let words = GeneratorConfiguration.Access.allCases.map { ($0.rawValue, $0) }
      generator.access = reader.word(json, pointer.appending("access"), words) ?? .internal
    }
    if let json = members["module"] {
      generator.clientModule = reader.swiftName(json, pointer.appending("module")) ?? generator.clientModule
    }
    if let json = members["manifest"] { readManifest(json, pointer.appending("manifest"), &reader) }
    if let json = members["mocks"] { readMocks(json, pointer.appending("mocks"), &reader) }
  }

  private mutating func readMocks(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout SettingsReader) {
    var (folder, module) = (json, String?.none)
    var place = pointer
    if json.object != nil {
      guard let members = reader.object(json, pointer, knowing: ["folder", "module"]) else { return }
      guard let value = members["folder"] else {
        return reader.problem(pointer, "this object names no folder; add folder: Tests/Mocks")
      }
      (folder, place) = (value, pointer.appending("folder"))
      module = members["module"].flatMap { reader.swiftName($0, pointer.appending("module")) }
    }
    guard let name = reader.text(folder, place)?.text else { return }
    generator.mocks = .init(file: Paths.joined(name, Self.mocksFile), module: module)
  }

  private mutating func readManifest(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout SettingsReader) {
    if json.object == nil {
      generator.persistedDocuments = reader.text(json, pointer).map { .init(file: $0.text) }
      return
    }
    guard let members = reader.object(json, pointer, knowing: ["file", "format"]) else { return }
    guard let file = members["file"] else {
      return reader.problem(pointer, "this object names no file; add file: operations.json")
    }
    guard let name = reader.text(file, pointer.appending("file")) else { return }
    var settings = GeneratorConfiguration.PersistedDocuments(file: name.text)
    if let format = members["format"] {
      settings.format =
        reader.word(format, pointer.appending("format"), [("apollo", .apollo), ("texts-by-id", .textsByID)]) ?? .apollo
    }
    generator.persistedDocuments = settings
  }

  private mutating func readRenames(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout SettingsReader) {
    for (name, value) in reader.anyObject(json, pointer) ?? [:] {
      let place = pointer.appending(name)
      generator.renames[name] = reader.text(value, place)?.text
      generator.checkedKeys[name] = reader.problem(at: place)
    }
  }

  private mutating func readScalars(_ json: JSONValue, _ pointer: JSONPointer, _ reader: inout SettingsReader) {
    for (name, value) in reader.anyObject(json, pointer) ?? [:] {
      let place = pointer.appending(name)
      guard let setting = ScalarSetting(value, place, &reader) else { continue }
      let scalar = setting.scalar(clientModule: generator.clientModule)
      guard scalar.type != generator.renames[name] ?? name else {
        reader.problem(
          place,
          "the scalar \(name) would be a type of its own name; add the module of the type, or renames: {\(name): NAME}")
        continue
      }
      generator.scalars[name] = scalar
      generator.checkedKeys[name] = reader.problem(at: place)
    }
  }
}
