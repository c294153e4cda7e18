import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner schema")
struct SchemaCommandTests {
  private let folder: FixturePlugin.Folder

  init() throws {
    folder = try FixturePlugin.Folder()
    try Data("type Query { b: Int, a: String! }".utf8).write(to: folder.file("old.graphqls"))
    try Data("type Query { a: String! }\nextend type Query { b: Book }\n".utf8).write(to: folder.file("new.graphqls"))
    try Data("type Book { id: ID! }\n".utf8).write(to: folder.file("book.graphqls"))
  }

  private func run(_ arguments: String...) async throws -> ToolRun {
    try await ToolRun(Repository.command, ["schema"] + arguments, in: folder.url)
  }

  @Test("several files are printed as one schema, sorted on request", .rule("generate.14"))
  func printing() async throws {
    let printed = try await run("print", "--sorted", "new.graphqls", "book.graphqls")
    #expect(printed.status == 0, "\(printed.errors)")
    #expect(printed.output == "type Book {\n  id: ID!\n}\n\ntype Query {\n  a: String!\n  b: Book\n}\n")
  }

  @Test("problems of a schema have their place", .rule("generate.14"))
  func checking() async throws {
    let refused = try await run("check", "new.graphqls")
    #expect(refused.status == 3 && refused.errors.hasPrefix("new.graphqls:2:24: error: the type Book"), "\(refused.errors)")
    #expect(try await run("check", "new.graphqls", "book.graphqls").output == "new.graphqls, book.graphqls: ok\n")
    let policy = "directive @nice on OBJECT\ntype Query @typePolicy(keyFields: \"a\") @nice { a: Int }\n"
    try Data(policy.utf8).write(to: folder.file("policy.graphqls"))
    #expect(try await run("check", "policy.graphqls").status == 0)
    #expect(try await run("check", "none.graphqls").status == 3)
    #expect(try await run("check").status == 2)
  }

  @Test("fetch prints the schema of a server, or writes it to a file", .rule("generate.14"))
  func fetching() async throws {
    let server = try DemoServerProcess()
    try Data(await CommandRun(["demo-server", "--print-schema"]).output.utf8).write(to: folder.file("printed.graphqls"))
    let fetched = try await run("fetch", server.endpoint)
    #expect(fetched.status == 0, "\(fetched.errors)")
    try Data(fetched.output.utf8).write(to: folder.file("fetched.graphqls"))
    #expect(try await run("diff", "--fail-on", "safe", "printed.graphqls", "fetched.graphqls").status == 0)
    #expect(try await run("fetch", server.endpoint, "--sorted", "--output", "sorted.graphqls").status == 0)
    #expect(try await run("print", "sorted.graphqls").output == run("print", "--sorted", "fetched.graphqls").output)
    #expect(try await run("fetch", server.endpoint, "-o", "result.json").output.isEmpty)
    #expect(try await run("diff", "--fail-on", "safe", "printed.graphqls", "result.json").status == 0)
  }

  @Test("other servers are asked for as much as they know, with the headers of the command", .rule("generate.14"))
  func fetchingOthers() async throws {
    let strawberry = try await StrawberryServer()
    #expect(try await run("fetch", strawberry.endpoint, "-o", "a.graphqls", "--header", "X-Test: 1").errors.isEmpty)
    let ariadne = try await AriadneServer()
    #expect(try await run("fetch", ariadne.endpoint, "-o", "b.graphqls").errors.isEmpty)
    #expect(try await run("check", "a.graphqls").status == 0)
    #expect(try await run("print", "b.graphqls").output.contains("type Room"))
  }

  @Test("the schema fetched from graphene is the one that graphene prints", .rule("schema.2"))
  func fetchingFromGraphene() async throws {
    let graphene = try await GrapheneServer()
    #expect(try await run("fetch", graphene.endpoint, "-o", "fetched.graphqls").errors.isEmpty)
    let printed = try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-s", "\(graphene.endpoint)schema"], in: folder.url)
    try Data(printed.output.utf8).write(to: folder.file("printed.graphqls"))
    let found = try await run("diff", "--fail-on", "safe", "printed.graphqls", "fetched.graphqls")
    #expect(found.status == 0 && printed.output.contains("union Found = Book | Author"), "\(found.output)\(printed.output)")
  }

  @Test(
    "a server without introspection is said, after it was asked for each edition", .rule("generate.14"),
    arguments: [
      ("200 OK", #"{"errors":[{"message":"introspection is off"}]}"#, 1, "introspection is off; ask its operator"),
      ("400 Bad Request", #"{"errors":[{"message":"introspection is off"}]}"#, 5, "400"),
      ("200 OK", #"{"data":{"__schema":{"types":[{"name":"A"}]}}}"#, 6, "its kind is not"),
    ])
  func refusedFetch(status: String, body: String, exit: Int32, message: String) async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(status, headers: "Content-Type: application/json\r\n", body: body) })
    let fetched = try await run("fetch", "http://127.0.0.1:\(server.port)/", "-o", "none.graphqls")
    #expect(fetched.status == exit && fetched.errors.contains(message), "\(fetched)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("none.graphqls").path))
    #expect(try await run("fetch").status == 2)
  }

  @Test("differences fail from a severity on", .rule("generate.14"))
  func differences() async throws {
    let found = try await run("diff", "old.graphqls", "new.graphqls")
    #expect(found.status == 1)
    #expect(found.output.hasPrefix("breaking: "), "\(found.output)")
    #expect(try await run("diff", "old.graphqls", "old.graphqls").status == 0)
    #expect(try await run("diff", "book.graphqls", "old.graphqls").status == 1)
    #expect(try await run("diff", "old.graphqls", "old.graphqls", "--fail-on", "safe").output.isEmpty)
  }
}
