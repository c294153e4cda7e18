import CarabinerGeneration
import Foundation
import TestTools
import Testing

@Suite("Generation: files")
struct OutputTests {
  private let query = "query A { book { title genre } }\n"

  @Test("the first run writes all files, and a run over unchanged inputs writes nothing", .rule("generate.14"))
  func incremental() throws {
    let project = try Project(["Queries/A.graphql": query, "B.graphql": "query B { book { title } }"])
    let names = ["A.graphql", "B.graphql", "SchemaConfiguration.graphql", "SchemaTypes.graphql"].map { "Generated/\($0).swift" }
    #expect(try project.generate().written == names)
    let folder = project.url.appending(path: "Generated")
    let dates = {
      try Set(FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map(number))
    }
    let before = try dates()
    #expect(try project.generate() == ([], []))
    #expect(try dates() == before)
    try project.write("B.graphql", "query B { book { genre } }")
    #expect(try project.generate().written == ["Generated/B.graphql.swift"])
  }

  private func number(_ file: URL) throws -> String {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    return "\(file.lastPathComponent) \(attributes[.systemFileNumber] ?? 0) \(attributes[.modificationDate] ?? 0)"
  }

  @Test("a check names the files that would change, and writes nothing", .rule("generate.14"))
  func check() throws {
    let project = try Project(["A.graphql": query])
    #expect(try project.generate(writing: false).written.count == 3)
    #expect(!project.exists("Generated"))
    try project.generate()
    try project.remove("A.graphql")
    try project.write("B.graphql", "query B { book { title } }")
    let changes = try project.generate(writing: false)
    #expect(changes.written == ["Generated/B.graphql.swift"])
    #expect(changes.removed == ["Generated/A.graphql.swift", "Generated/SchemaTypes.graphql.swift"])
    #expect(project.exists("Generated/A.graphql.swift"))
  }

  @Test("a file without a source is removed, and only if it was generated", .rule("generate.14"))
  func removed() throws {
    let project = try Project([
      "A.graphql": query, "B.graphql": "query B { book { title } }", "C.graphql": "query C { book { title } }",
    ])
    try project.generate()
    let copy = try project.text("Generated/A.graphql.swift")
    try project.write("Generated/Copy.graphql.swift", copy)
    try project.write("Generated/Own.swift", "let own = 1\n")
    try project.write("Generated/B.graphql.swift", "// This is mine now.\n")
    try project.remove("A.graphql")
    try project.remove("B.graphql")
    #expect(try project.generate().removed == ["Generated/A.graphql.swift", "Generated/SchemaTypes.graphql.swift"])
    #expect(!project.exists("Generated/A.graphql.swift"))
    for name in ["B.graphql", "C.graphql", "Copy.graphql", "Own"] {
      #expect(project.exists("Generated/\(name).swift"), "\(name)")
    }
    #expect(try project.generate() == ([], []))
  }

  @Test("a file of a developer is not replaced", .rule("generate.14"))
  func foreign() throws {
    let project = try Project(["A.graphql": query, "Generated/A.graphql.swift": "let mine = 1\n"])
    let problems = try project.problems()
    #expect(problems.first?.hasPrefix("Generated/A.graphql.swift:1:1: error: the file cannot be replaced") == true, "\(problems)")
    #expect(try project.text("Generated/A.graphql.swift") == "let mine = 1\n")
    #expect(!project.exists("Generated/SchemaTypes.graphql.swift"))
  }

  @Test("files are beside their documents on request, and removed there", .rule("generate.13"))
  func besideDocuments() throws {
    let settings =
      "schema: schema.graphqls\ndocuments: ['**/*.graphql']\noutput: {folder: Schema, beside-documents: true}\n"
    let project = try Project(["Queries/A.graphql": query, "B.graphql": "query B { book { title } }"], settings: settings)
    try project.generate()
    for name in ["B", "Queries/A", "Schema/SchemaTypes", "Schema/SchemaConfiguration"] {
      #expect(project.exists("\(name).graphql.swift"), "\(name)")
    }
    try project.remove("B.graphql")
    #expect(try project.generate().removed == ["B.graphql.swift"])
  }

  @Test(
    "the list of documents for servers is written where it is named", .rule("generate.13"), arguments: ["apollo", "texts-by-id"])
  func manifest(_ format: String) throws {
    let settings = """
      schema: schema.graphqls
      documents: '*.graphql'
      output: {folder: Generated, manifest: {file: lists/m.json, format: \(format)}}
      """
    let project = try Project(["A.graphql": query], settings: settings)
    try project.generate()
    #expect(try project.text("lists/m.json").contains("query A { book { __typename title genre } }"))
    try project.write("carabiner-generate.yaml", Project.settings)
    #expect(try project.generate().removed == ["lists/m.json"])
  }

  @Test("mocks are written in their own folder, and removed there", .rule("generate.12"))
  func mocks() throws {
    let settings = "schema: schema.graphqls\ndocuments: '*.graphql'\noutput: {folder: Generated, mocks: Tests/Mocks}\n"
    let project = try Project(["A.graphql": query], settings: settings)
    #expect(try project.generate().written.contains("Tests/Mocks/Mocks.graphql.swift"))
    #expect(try project.text("Tests/Mocks/Mocks.graphql.swift").contains("\nextension Mock where Object == Book {\n"))
    #expect(try project.generate() == ([], []))
    try project.write("Mocks.graphql", "query B { book { title } }")
    #expect(try project.problems().first?.hasPrefix("Mocks.graphql:1:1: error: Mocks.graphql.swift is the name of") == true)
    try project.remove("Mocks.graphql")
    try project.write("carabiner-generate.yaml", Project.settings)
    #expect(try project.generate().removed == ["Tests/Mocks/Mocks.graphql.swift"])
  }

  @Test("a schema or a document with a fault changes no file", .rule("generate.14"))
  func faults() throws {
    let project = try Project(["A.graphql": query])
    try project.generate()
    let text = try project.text("Generated/A.graphql.swift")
    try project.write("A.graphql", "query A {\n  book { titel }\n}\n")
    #expect(
      try project.problems()
        == ["A.graphql:2:10: error: Book has no field titel (did you mean title?) [FieldsOnCorrectType]"])
    try project.write("A.graphql", query)
    try project.write("schema.graphqls", "type Query { book: Bo")
    #expect(try project.problems().first?.hasPrefix("schema.graphqls:1:") == true)
    #expect(try project.text("Generated/A.graphql.swift") == text)
  }

  @Test("a pattern that matches nothing is a fault at its place", .rule("generate.13"))
  func nothing() throws {
    let settings = "schema: schema.graphqls\ndocuments: [a.graphql, '**/*.gql']\noutput: {folder: Generated}\n"
    let project = try Project(settings: settings)
    let problems = try project.problems()
    #expect(problems.count == 2, "\(problems)")
    #expect(problems.first?.hasPrefix("carabiner-generate.yaml:2:13: error: no document matches a.graphql") == true)
    #expect(problems.last?.hasPrefix("carabiner-generate.yaml:2:24: error: no document matches **/*.gql") == true)
  }

  @Test("two documents with one name, and a document with the name of a generated file, are faults", .rule("generate.13"))
  func sameNames() throws {
    let project = try Project([
      "a/A.graphql": query, "b/A.graphql": "query B { book { title } }", "SchemaTypes.graphql": "query C { book { title } }",
    ])
    let problems = try project.problems()
    #expect(problems.count == 2, "\(problems)")
    #expect(problems.first?.hasPrefix("SchemaTypes.graphql:1:1: error: ") == true)
    #expect(problems.last?.hasPrefix("b/A.graphql:1:1: error: the file A.graphql.swift would be generated for") == true)
  }

  @Test(
    "two outputs with one path are a fault, and nothing is written", .rule("generate.13"),
    arguments: ["manifest: Generated/A.graphql.swift", "manifest: Generated/../Generated/Mocks.graphql.swift, mocks: Generated"])
  func sameOutputs(_ setting: String) throws {
    let settings = "schema: schema.graphqls\ndocuments: '*.graphql'\noutput: {folder: Generated, \(setting)}\n"
    let project = try Project(["A.graphql": query], settings: settings)
    let problems = try project.problems()
    #expect(
      problems.count == 1 && problems.first?.contains("two generated files would have the path Generated/") == true, "\(problems)"
    )
    #expect(!project.exists("Generated/A.graphql.swift"))
  }

  @Test(
    "a folder that cannot be written is a fault, and nothing is written", .rule("generate.14"),
    arguments: ["/proc/carabiner", "taken"])
  func noPermission(_ folder: String) throws {
    let settings = "schema: schema.graphqls\ndocuments: '*.graphql'\noutput: {folder: Generated, manifest: \(folder)/m.json}\n"
    let project = try Project(["A.graphql": query, "taken": ""], settings: settings)
    let problems = try project.problems()
    #expect(problems.count == 1 && problems.first?.contains("cannot be written: ") == true, "\(problems)")
    #expect(!project.exists("Generated/A.graphql.swift"))
  }

  @Test("a schema with the ending of documents is not a document", .rule("generate.13"))
  func schemaAsDocument() throws {
    let project = try Project(
      ["A.graphql": query, "schema.graphql": Project.schema],
      settings: "schema: ./schema.graphql\ndocuments: '**/*.graphql'\noutput: {folder: Generated}\n")
    #expect(try project.problems().isEmpty)
  }
}
