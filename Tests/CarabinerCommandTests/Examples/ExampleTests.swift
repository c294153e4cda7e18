import CommandTools
import Foundation
import TestTools
import Testing

/// The examples under Tests/Examples, run against the demo server.
@Suite("Examples of programs that embed the client")
struct ExampleTests {
  private func run(_ name: String, _ arguments: String...) async throws -> ToolRun {
    try await ToolRun(Repository.root.appending(path: ".build/debug/\(name)"), arguments)
  }

  @Test("a client reads from the server and from the store, changes an object, and shows both kinds of errors")
  func client() async throws {
    let server = try DemoServerProcess()
    let example = try await run("EmbeddedClient", server.endpoint)
    #expect(example.status == 0, "\(example.errors)")
    let lines = example.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 5, "\(example.output)")
    #expect(lines[0] == "The Left Hand of Darkness by Ursula K. Le Guin, from the server")
    #expect(lines[1] == "The Left Hand of Darkness by Ursula K. Le Guin, from the cache")
    #expect(lines[2] == "renamed to The Left Hand of Darkness, revised")
    #expect(lines[3].hasPrefix("GraphQL error: "))
    #expect(lines[4] == "HTTP error: status 404")
  }

  @Test("a watched query returns the new title after a mutation of the same client", .timeLimit(.minutes(10)))
  func watch() async throws {
    let server = try DemoServerProcess()
    let example = try await run("WatchedQuery", server.endpoint)
    #expect(example.status == 0, "\(example.errors)")
    #expect(example.output == "Solaris\nSolaris, revised\n")
  }

  @Test("native interceptors run around the stages of a manifest")
  func nativeInterceptor() async throws {
    let server = try DemoServerProcess()
    let example = try await run("NativeInterceptor", manifest(of: "NativeInterceptor"), server.endpoint)
    #expect(example.status == 0, "\(example.errors)")
    let lines = example.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 3, "\(example.output)")
    #expect(lines[0].wholeMatch(of: /request [0-9A-F-]{36}: status 200/) != nil)
    #expect(lines[1].hasPrefix("unnamed operation: a result from the server after "))
    #expect(lines[2] == #"{"data":{"__typename":"Query"}}"#)
  }

  @Test("an interceptor for Connect-Swift runs around a plugin in C")
  func connectCalls() async throws {
    let (server, folder) = (try await ConnectServer(), try FixturePlugin.Folder())
    let sources = Repository.root.appending(path: "Tests/Examples/ConnectCalls")
    _ = try await FixturePlugin.compile(
      at: sources.appending(path: "Plugin/chunk_count.c").path, into: folder, name: "chunk-count.so")
    let manifest = folder.file("chain.yaml")
    try FileManager.default.copyItem(at: sources.appending(path: "chain.yaml"), to: manifest)
    let example = try await run("ConnectCalls", manifest.path, server.host)
    #expect(example.status == 0, "\(example.errors)")
    let lines = example.output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("echo") || $0.hasPrefix("count") }
    #expect(lines == ["echo: hello", "count begins", "count: 1", "count: 2", "count: 3", "count ends with ok"])
    let log = (example.output + example.errors).matches(of: /(\d+) chunks with (\d+) bytes/)
    #expect(log.count == 2 && log.allSatisfy { $0.1 != "0" && $0.2 != "0" }, "\(example.errors)")
  }

  private func manifest(of example: String) -> String {
    Repository.root.appending(path: "Tests/Examples/\(example)/chain.yaml").path
  }

  @Test("interceptors with callbacks run around the plugins of a manifest, and the store answers the second fetch")
  func callbacks() async throws {
    let server = try DemoServerProcess()
    let example = try await run("CallbackClient", manifest(of: "CallbackClient"), server.endpoint)
    #expect(example.status == 0, "\(example.errors)")
    let lines = example.output.split(separator: "\n").map(String.init)
    try #require(lines.count == 4, "\(example.output)")
    #expect(lines[0].hasPrefix("Book: a result after ") && lines[2].hasPrefix("Book: a result after "))
    #expect(lines[1] == "Solaris, from the server" && lines[3] == "Solaris, from the cache")
    // The plugin in C runs after the cache, so it sees one of the two.
    #expect(example.errors.components(separatedBy: "query Book attempt 0: done, 1 results").count == 2, "\(example.errors)")
  }

  @Test("the list of 0.3x runs around the plugins of a manifest, and the store answers the second fetch")
  func legacy() async throws {
    let server = try DemoServerProcess()
    let example = try await run("LegacyClient", manifest(of: "LegacyClient"), server.endpoint)
    #expect(example.status == 0, "\(example.errors)")
    #expect(
      example.output == "Book: begins\nBook: status 200\nSolaris, from the server\nBook: begins\nSolaris, from the cache\n")
    // The plugin in C runs after the cache, so it sees one of the two.
    #expect(example.errors.components(separatedBy: "query Book attempt 0: done, 1 results").count == 2, "\(example.errors)")
  }

  @Test("a delegate sees each request behind the plugins of a manifest")
  func delegate() async throws {
    let server = try DemoServerProcess()
    let example = try await run("DelegateClient", manifest(of: "DelegateClient"), server.endpoint)
    #expect(example.status == 0, "\(example.errors)")
    #expect(example.output == "may be sent to /graphql\nsent with POST\nstatus 200\nSolaris\n")
    #expect(example.errors.contains("query Book attempt 0: done, 1 results"), "\(example.errors)")
  }

  @Test(
    "an example without arguments shows its usage and ends with status 2",
    arguments: [
      "CallbackClient", "ConnectCalls", "DelegateClient", "EmbeddedClient", "EmbeddedGateway", "LegacyClient",
      "NativeInterceptor", "WatchedQuery",
    ])
  func usage(_ name: String) async throws {
    let example = try await run(name)
    #expect(example.status == 2)
    #expect(example.errors.hasPrefix("usage: \(name) "))
  }

  @Test(
    "the target of an example has the dependencies that its package declares",
    arguments: [
      "CallbackClient", "ConnectCalls", "DelegateClient", "EmbeddedClient", "EmbeddedGateway", "LegacyClient",
      "NativeInterceptor", "WatchedQuery",
    ])
  func dependencies(_ name: String) throws {
    let package = try String(
      contentsOf: Repository.root.appending(path: "Tests/Examples/\(name)/Package.swift"), encoding: .utf8)
    let root = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
    let target = try #require(root.split(separator: "name: \"\(name)\",").last?.split(separator: "path:").first)
    let products = package.matches(of: /\.product\(name: "(\w+)"/).map { String($0.1) }
    #expect(!products.isEmpty)
    for product in products { #expect(target.contains("\"\(product)\""), "\(product) of \(name)") }
  }
}
