import CarabinerGenerator
import TestTools
import Testing

@testable import CarabinerGeneration

@Suite("Generation: configuration")
struct SettingsTests {
  private func settings(_ text: String) throws -> GenerationSettings { try GenerationSettings(reading: text, file: "c.yaml") }

  private func problems(_ text: String) throws -> [String] {
    do {
      _ = try settings(text)
      return []
    } catch let error as GeneratorError {
      return error.problems.map(\.description)
    }
  }

  @Test("the least configuration has a schema, documents and an output folder", .rule("generate.13"))
  func least() throws {
    let settings = try settings("schema: [schema.graphqls]\ndocuments: ['**/*.graphql']\noutput: {folder: Generated}\n")
    #expect(settings.schema == .language([PlacedText("schema.graphqls", line: 1, column: 10)]))
    #expect(settings.documents == [PlacedText("**/*.graphql", line: 2, column: 13)])
    #expect(settings.folder == "Generated")
    #expect(!settings.isBesideDocuments)
    #expect(settings.generator == GeneratorConfiguration())
  }

  @Test("every key has its effect", .rule("generate.13"))
  func allKeys() throws {
    let settings = try settings(
      """
      # yaml-language-server: $schema=generate.schema.json
      $schema: generate.schema.json
      schema: {introspection: schema.json}
      documents: Queries/*.graphql
      output:
        folder: Generated
        beside-documents: true
        access: public
        module: Client
        manifest: {file: operations.json, format: texts-by-id}
        mocks: {folder: ../Tests/Mocks, module: Shop}
      scalars:
        DateTime: {type: Date, coding: iso8601}
        Link: URL
        Big: Int64
        Any: JSON
        Money: {type: Amount, module: Shop, coding: Cents}
      renames: {Book.title: name, Genre: Kind}
      """)
    #expect(settings.schema == .introspection(PlacedText("schema.json", line: 3, column: 10)))
    #expect(settings.isBesideDocuments)
    var expected = GeneratorConfiguration()
    expected.access = .public
    expected.clientModule = "Client"
    expected.persistedDocuments = .init(file: "operations.json", format: .textsByID)
    expected.mocks = .init(file: "../Tests/Mocks/Mocks.graphql.swift", module: "Shop")
    expected.scalars = [
      "DateTime": .init(type: "Foundation.Date", module: "Foundation", coding: "ISO8601Date"),
      "Link": .init(type: "Foundation.URL", module: "Foundation"), "Big": .init(type: "Swift.Int64"),
      "Any": .init(type: "Client.JSONValue", module: "Client"),
      "Money": .init(type: "Shop.Amount", module: "Shop", coding: "Cents"),
    ]
    expected.renames = ["Book.title": "name", "Genre": "Kind"]
    #expect(Set(settings.generator.checkedKeys.keys) == Set(expected.scalars.keys).union(expected.renames.keys))
    expected.checkedKeys = settings.generator.checkedKeys
    #expect(settings.generator == expected)
  }

  @Test(
    "a fault has line, column and remedy", .rule("generate.13"),
    arguments: [
      ("", "c.yaml:1:1: error: the configuration is empty; begin with schema: [schema.graphqls]"),
      ("schema: a\nschema: b\n", "c.yaml:1:1: error: the key schema occurs twice in one object; remove one of them"),
      ("schema: a\ndocuments: b\n", "c.yaml:1:1: error: there is no output; write output: {folder: Generated}"),
      ("schema: a\ndocuments: b\noutput: {}\n", "c.yaml:3:1: error: the output has no folder; write folder: Generated"),
      (
        "schema: a\ndocuments: b\noutput: {folder: c, acess: public}\n",
        "c.yaml:3:21: error: unknown key acess (did you mean access?)"
      ),
      (
        "schema: a\ndocuments: b\noutput: {folder: c, access: pubic}\n",
        "c.yaml:3:21: error: pubic is not known here (did you mean public?); known are internal, package, public"
      ),
      ("schema: a\ndocuments: []\noutput: {folder: c}\n", "c.yaml:2:1: error: this list is empty; name at least one file"),
      ("schema: {}\ndocuments: b\noutput: {folder: c}\n", "c.yaml:1:1: error: this object names no file; write {introspection"),
      (
        "schema: a\ndocuments: [b, 3]\noutput: {folder: c}\n",
        "c.yaml:2:16: error: this is a JSON number, and a text is expected"
      ),
      (
        "schema: a\ndocuments: b\noutput: {folder: c}\nscalars: {D: Date}\n",
        "c.yaml:4:11: error: a Date has many forms in JSON; name one, as in {type: Date, coding: iso8601}"
      ),
      (
        "schema: a\ndocuments: b\noutput: {folder: c}\nscalars:\n  Money: Money\n",
        "c.yaml:5:3: error: the scalar Money would be a type of its own name"
      ),
      (
        "schema: a\ndocuments: b\noutput: {folder: c}\nscalars: {D: 'A; B'}\n",
        "c.yaml:4:11: error: \"A; B\" is not a name in Swift"
      ),
      (
        "schema: a\ndocuments: b\noutput: {folder: c, mocks: {module: D}}\n",
        "c.yaml:3:21: error: this object names no folder; add folder: Tests/Mocks"
      ),
      ("schema: a\ndocuments: b\noutput: {folder: c, mocks: 1}\n", "c.yaml:3:21: error: this is a JSON number"),
      ("schema: [a\n", "c.yaml:2:1: error: this is not YAML"),
    ])
  func faults(_ text: String, _ problem: String) throws {
    let found = try problems(text)
    #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
  }

  @Test("deep and large values are faults and not traps", .rule("generate.13"))
  func badInput() throws {
    #expect(try problems("schema: " + String(repeating: "[", count: 10_000)).count == 1)
    #expect(try problems(String(repeating: "a", count: 1_000_000)).count == 1)
  }

  @Test("the JSON Schema of configurations is JSON and knows each key", .rule("generate.13"))
  func schema() throws {
    let text = GenerationRequest.configurationSchema
    for key in [
      "schema", "documents", "folder", "beside-documents", "access", "module", "manifest", "mocks", "scalars", "renames",
    ] {
      #expect(text.contains("\"\(key)\": {"), "\(key)")
    }
  }
}
