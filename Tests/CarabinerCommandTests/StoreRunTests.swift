import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

@Suite("carabiner run with a store in a file")
struct StoreRunTests {
  private static let nowhere = "http://127.0.0.1:1/graphql"
  private static let books = "{ books { __typename id title } }"
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func manifest(_ store: String) throws -> String {
    try folder.write("carabiner: 1\nbuilt-ins:\n  store: \(store)\n", to: "chain.yaml")
  }

  private func run(_ manifest: String, _ endpoint: String, _ document: String, _ more: String...) async throws -> CommandRun {
    try await CommandRun(
      ["run", "-m", manifest, "--endpoint", endpoint, "--output", "jsonl"] + more + ["-"], input: document)
  }

  @Test("a second process finds what the first one stored, beside the manifest and without a server", .rule("store.6"))
  func secondProcess() async throws {
    let manifest = try manifest("{file: cache.sqlite}")
    let server = try DemoServerProcess()
    let first = try await run(manifest, server.endpoint, Self.books)
    #expect(first.status == 0, "\(first.errors)")
    #expect(server.end(with: SIGTERM) == 0)
    #expect(FileManager.default.fileExists(atPath: folder.file("cache.sqlite")))
    for policy in ["cacheFirst", "cacheOnly"] {
      let second = try await run(manifest, Self.nowhere, Self.books, "--cache-policy", policy)
      #expect(second.status == 0, "\(second.errors)")
      #expect(second.output == first.output)
    }
    let network = try await run(manifest, Self.nowhere, Self.books, "--cache-policy", "networkOnly")
    #expect(network.status == 4)
    let fallback = try await run(manifest, Self.nowhere, Self.books, "--cache-policy", "networkFirst")
    #expect(fallback.output == first.output)
  }

  @Test("a field policy of the manifest answers a query from objects that another query stored", .rule("store.1"))
  func fieldPolicy() async throws {
    let plain = try manifest("{file: cache.sqlite}")
    let server = try DemoServerProcess()
    #expect(try await run(plain, server.endpoint, Self.books).status == 0)
    let one = #"{ book(id: "2") { title } }"#
    #expect(try await run(plain, Self.nowhere, one, "--cache-policy", "cacheOnly").output.isEmpty)
    let policies = try manifest("{file: cache.sqlite, field-policies: {Query.book: {type: Book, arguments: id}}}")
    let found = try await run(policies, Self.nowhere, one, "--cache-policy", "cacheOnly")
    #expect(found.output == "{\"data\":{\"book\":{\"title\":\"Solaris\"}}}\n", "\(found.errors)")
  }

  @Test("data older than the manifest allows is not answered from the store", .rule("store.7"))
  func maximumAge() async throws {
    let server = try DemoServerProcess()
    let stored = try manifest("{file: cache.sqlite, maximum-ages: {Book.title: 1h}}")
    #expect(try await run(stored, server.endpoint, Self.books).status == 0)
    #expect(try await run(stored, Self.nowhere, Self.books).status == 0)
    let aged = try manifest("{file: cache.sqlite, maximum-ages: {Book.title: 0s}}")
    #expect(try await run(aged, Self.nowhere, Self.books).status == 4)
  }

  @Test("results with errors are not stored if the manifest says so", .rule("cache-policy.2"), arguments: [true, false])
  func resultsWithErrors(_ isKept: Bool) async throws {
    let manifest = try manifest("{file: cache.sqlite, results-with-errors: \(isKept)}")
    let server = try await StrawberryServer()
    let document = "{ books { __typename id } failing }"
    #expect(try await run(manifest, server.endpoint, document).status == 1)
    let again = try await run(manifest, Self.nowhere, document, "--cache-policy", "cacheOnly")
    #expect(again.output.contains("books") == isKept, "\(again.output) \(again.errors)")
  }

  @Test("a store's file that cannot be used is refused by run and check with its line", .rule("store.6"))
  func damaged() async throws {
    let manifest = try manifest("{file: cache.sqlite}")
    _ = try folder.write(String(repeating: "no database ", count: 500), to: "cache.sqlite")
    let run = try await run(manifest, Self.nowhere, Self.books)
    #expect(run.status == 3)
    #expect(run.errors.contains("cache.sqlite is damaged or not a database"), "\(run.errors)")
    let check = try await CommandRun(["check", "-m", manifest])
    #expect(check.status == 3)
    #expect(
      check.errors.hasPrefix("\(manifest):3:11: error: /built-ins/store/file: \(folder.file("cache.sqlite")) is damaged"),
      "\(check.errors)")
  }

  @Test("check makes no store")
  func checkMakesNothing() async throws {
    let manifest = try manifest("{file: cache.sqlite}")
    #expect(try await CommandRun(["check", "-m", manifest]).status == 0)
    #expect(!FileManager.default.fileExists(atPath: folder.file("cache.sqlite")))
  }
}
