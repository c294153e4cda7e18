import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

@Suite("carabiner run against a second server implementation")
struct AriadneTests {
  private func run(_ server: AriadneServer, _ document: String, _ arguments: String...) async throws -> CommandRun {
    try await CommandRun(
      ["run", "--endpoint", server.endpoint, "--output", "json"] + arguments + ["-"], input: document)
  }

  private func data(_ run: CommandRun) throws -> JSONValue {
    try #require(try JSONValue(parsing: Array(run.output.utf8))["data"], "\(run.errors)")
  }

  private static let things = """
    query Things { things { __typename ... on Room { id name } ... on Shelf { id label room { ...Name } } } }
    fragment Name on Room { name }
    """

  @Test("unions and fragments are returned, by POST and by GET", .rule("request.1", "request.2"), arguments: [[], ["--get"]])
  func things(arguments: [String]) async throws {
    let server = try await AriadneServer()
    let run = try await CommandRun(
      ["run", "--endpoint", server.endpoint, "--output", "json"] + arguments + ["-"], input: Self.things)
    #expect(run.status == 0, "\(run.errors)")
    let things = try #require(try data(run)["things"]?.array)
    #expect(things.count == 7)
    #expect(things[1] == ["__typename": "Room", "id": "2", "name": "Süd"])
    #expect(things[2] == ["__typename": "Shelf", "id": "1", "label": "shelf 1", "room": ["name": "Süd"]])
  }

  @Test("a mutation changes the server, and a field that fails is exit status 1 with the rest of the data")
  func mutation() async throws {
    let server = try await AriadneServer()
    let relabel = "mutation R($id: ID!) { relabel(id: $id, label: \"neu\") { id label } }"
    let done = try await run(server, relabel, "--variables", #"{"id":"3"}"#)
    #expect(done.status == 0, "\(done.errors)")
    #expect(try data(done) == ["relabel": ["id": "3", "label": "neu"]])
    let after = try await run(server, #"{ shelf(id: "3") { label } }"#)
    #expect(try data(after) == ["shelf": ["label": "neu"]])
    let failed = try await run(server, relabel, "--variables", #"{"id":"9"}"#)
    #expect(failed.status == 1)
    #expect(try data(failed) == ["relabel": nil])
    #expect(failed.output.contains("there is no shelf 9"))
  }

  @Test("errors with status 400 are exit status 5, and the server's message is printed")
  func refused() async throws {
    let server = try await AriadneServer()
    for document in ["{ failing }", "{ nothing }"] {
      let run = try await run(server, document)
      #expect(run.status == 5, "\(run.errors)")
      #expect(run.errors.contains("status 400"))
      #expect(run.errors.contains(document == "{ failing }" ? "BROKEN" : "Cannot query field 'nothing'"), "\(run.errors)")
    }
  }

  @Test("a file arrives byte for byte", .rule("request.5"))
  func upload() async throws {
    let server = try await AriadneServer()
    let file = try TemporaryFile("hello", suffix: ".txt")
    let run = try await run(
      server, "mutation U($file: Upload!) { upload(file: $file) { size sha256 } }", "--file", "file=\(file.path)")
    #expect(run.status == 0, "\(run.errors)")
    let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    #expect(try data(run) == ["upload": ["size": 5, "sha256": .string(hash)]])
  }
}
