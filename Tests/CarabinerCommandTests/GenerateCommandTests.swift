import CommandTools
import Foundation
import ScriptedServer
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

  @Test("carabiner-generate fetches the schema that carabiner schema fetch prints", .rule("generate.14"))
  func fetching() async throws {
    let server = try DemoServerProcess()
    let folder = try FixturePlugin.Folder()
    let fetched = try await run("carabiner-generate", "fetch", server.endpoint, in: folder)
    #expect(fetched.status == 0 && fetched.output == "wrote schema.graphqls\n", "\(fetched)")
    let text = try String(contentsOf: folder.file("schema.graphqls"), encoding: .utf8)
    #expect(try await run("carabiner", "schema", "fetch", server.endpoint, in: folder).output == text)
    #expect(try await run("carabiner-generate", "fetch", server.endpoint, "--output", "none/a", in: folder).status == 3)
    #expect(try await run("carabiner-generate", "fetch", "127.0.0.1", in: folder).status == 2)
    #expect(try await run("carabiner-generate", "fetch", server.endpoint, "--header", "secret", in: folder).status == 2)
  }

  @Test(
    "a schema that cannot be fetched leaves no file, and the message says why", .rule("generate.14"),
    arguments: [
      ("200 OK", "", #"{"errors":[{"message":"introspection is off"}]}"#, 1, "introspection is off; ask its operator"),
      ("302 Found", "Location: http://127.0.0.1:9/\r\n", "", 4, "redirects to http://127.0.0.1:9/; fetch from there"),
      ("404 Not Found", "", #"{"errors":[{"message":"no such page"}]}"#, 5, "HTTP status 404"),
      ("200 OK", "", "<html>", 6, "is not an introspection result"),
      ("200 OK", "", #"{"data":{"__schema":{"types":[{"name":"A"}]}}}"#, 6, "its kind is not"),
    ])
  func refusedFetch(status: String, headers: String, body: String, exit: Int32, message: String) async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(status, headers: headers, body: body) })
    let folder = try FixturePlugin.Folder()
    let fetched = try await run("carabiner-generate", "fetch", "http://127.0.0.1:\(server.port)/", in: folder)
    #expect(fetched.status == exit && fetched.errors.contains(message), "\(fetched)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("schema.graphqls").path))
  }
}
