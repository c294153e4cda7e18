import Foundation
import TestTools
import Testing

/// `carabiner generate` and `carabiner-generate`.
@Suite("carabiner generate", .serialized)
struct GenerateCommandTests {
  private func run(_ program: String, _ arguments: String..., in folder: FixturePlugin.Folder) async throws -> ToolRun {
    try await ToolRun(Repository.root.appending(path: ".build/debug/\(program)"), arguments, in: folder.url)
  }

  private func project() throws -> FixturePlugin.Folder {
    let folder = try FixturePlugin.Folder()
    try Data("type Query { title: String! }".utf8).write(to: folder.file("schema.graphqls"))
    try Data("query Title {\n  title\n}\n".utf8).write(to: folder.file("Title.graphql"))
    return folder
  }

  @Test(
    "both programs create a configuration, generate and check",
    arguments: [("carabiner", ["generate"]), ("carabiner-generate", [])])
  func journey(_ program: String, _ command: [String]) async throws {
    let folder = try project()
    func run(_ arguments: String...) async throws -> ToolRun {
      try await ToolRun(Repository.root.appending(path: ".build/debug/\(program)"), command + arguments, in: folder.url)
    }
    let created = try await run("init")
    #expect(created.status == 0, "\(created.errors)")
    #expect(try await run("init").status == 2)
    let outdated = try await run("--check")
    #expect(outdated.status == 1 && outdated.errors.isEmpty)
    #expect(
      outdated.output == "would write Generated/SchemaConfiguration.graphql.swift\nwould write Generated/Title.graphql.swift\n")
    let generated = try await run()
    #expect(generated.status == 0, "\(generated.errors)")
    #expect(generated.output == outdated.output.replacing("would write", with: "wrote"))
    let current = try await run("--check")
    #expect(current.status == 0 && current.output.isEmpty)
    try Data("query Title {\n  titel\n}\n".utf8).write(to: folder.file("Title.graphql"))
    let refused = try await run()
    #expect(refused.status == 3)
    #expect(refused.errors.hasPrefix("Title.graphql:2:3: error: Query has no field titel (did you mean title?)"))
    #expect(try await run("--check", "--watch").status == 2)
  }

  @Test("settings without a counterpart are printed")
  func conversion() async throws {
    let folder = try project()
    try Data(#"{"schemaNamespace": "API", "input": {"schemaPath": "./schema.graphqls"}}"#.utf8).write(to: folder.file("a.json"))
    let created = try await run("carabiner-generate", "init", "--from", "a.json", in: folder)
    #expect(created.status == 0)
    #expect(created.errors == "a.json: warning: schemaNamespace: \"API\" has no counterpart and is left out\n")
    #expect(try await run("carabiner-generate", in: folder).status == 0)
  }
}
