import Foundation
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

  @Test("generate.14: several files are printed as one schema, sorted on request")
  func printing() async throws {
    let printed = try await run("print", "--sorted", "new.graphqls", "book.graphqls")
    #expect(printed.status == 0, "\(printed.errors)")
    #expect(printed.output == "type Book {\n  id: ID!\n}\n\ntype Query {\n  a: String!\n  b: Book\n}\n")
  }

  @Test("generate.14: problems of a schema have their place")
  func checking() async throws {
    let refused = try await run("check", "new.graphqls")
    #expect(refused.status == 3 && refused.errors.hasPrefix("new.graphqls:2:24: error: the type Book"), "\(refused.errors)")
    #expect(try await run("check", "new.graphqls", "book.graphqls").output == "new.graphqls, book.graphqls: ok\n")
    #expect(try await run("check", "none.graphqls").status == 3)
    #expect(try await run("check").status == 2)
  }

  @Test("generate.14: differences fail from a severity on")
  func differences() async throws {
    let found = try await run("diff", "old.graphqls", "new.graphqls")
    #expect(found.status == 1)
    #expect(found.output.hasPrefix("breaking: "), "\(found.output)")
    #expect(try await run("diff", "old.graphqls", "old.graphqls").status == 0)
    #expect(try await run("diff", "book.graphqls", "old.graphqls").status == 1)
    #expect(try await run("diff", "old.graphqls", "old.graphqls", "--fail-on", "safe").output.isEmpty)
  }
}
