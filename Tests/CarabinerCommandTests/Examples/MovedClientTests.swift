import CommandTools
import Foundation
import TestTools
import Testing

@Suite("The program that was moved from Apollo iOS")
struct MovedClientTests {
  private static let moved = Repository.root.appending(path: "Tests/Examples/MovedClient")
  /// The files that the page changes by hand.
  private static let byHand: Set = [
    "Package.swift", "Sources/BookShelf/App.swift", "Sources/BookShelf/Network.swift", "Sources/BookShelf/Titles.swift",
  ]

  private let page: String

  init() throws {
    let path = "Sources/Carabiner/Documentation.docc/MovingAnApp.md"
    page = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
  }

  private func listings(_ language: String) -> [String] {
    page.components(separatedBy: "```\(language)\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
  }

  private func files(of folder: URL) throws -> [String: String] {
    var files: [String: String] = [:]
    let found = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey]))
    for case let url as URL in found where try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
      files[String(url.path.dropFirst(folder.path.count + 1))] = try String(contentsOf: url, encoding: .utf8)
    }
    return files
  }

  @Test(
    "the commands of the page make the example from the old program, but for the files that are changed by hand",
    .rule("generate.13"))
  func commands() async throws {
    let folder = try FixturePlugin.Folder()
    let copy = folder.file("BookShelf")
    try FileManager.default.copyItem(at: Repository.root.appending(path: "Tests/Fixtures/OldApp"), to: copy)
    let script = try #require(listings("bash").first)
    let path = "\(Repository.command.deletingLastPathComponent().path):/usr/bin:/bin"
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/env"), ["PATH=\(path)", "bash", "-euo", "pipefail", "-c", script], in: copy)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("schemaNamespace"), "\(run.errors)")
    let (made, wanted) = (try files(of: copy), try files(of: Self.moved))
    #expect(made.keys.sorted() == wanted.keys.sorted())
    let differing = wanted.keys.filter { made[$0] != wanted[$0] }
    #expect(Set(differing) == Self.byHand)
  }

  @Test("the listings of the page are in the files that are changed by hand")
  func byHand() throws {
    let swift = listings("swift")
    #expect(swift.count == 4)
    let sources = try files(of: Self.moved).filter { Self.byHand.contains($0.key) }.values.map {
      $0.replacing(#"path: "../../..""#, with: #"path: "../carabiner""#)
    }
    for listing in swift { #expect(sources.contains { $0.contains(listing) }, "no file has the listing \(listing)") }
  }

  @Test("it prints, searches, follows a title, and changes the store", .rule("generate.3", "generate.11"))
  func run() async throws {
    let server = try DemoServerProcess()
    let example = try await ToolRun(Repository.root.appending(path: ".build/debug/MovedClient"), [server.endpoint])
    #expect(example.status == 0, "\(example.errors)")
    let lines = example.output.split(separator: "\n").map(String.init)
    #expect(lines.contains("Solaris by Stanisław Lem, scienceFiction"), "\(example.output)")
    #expect(lines.contains("Stanisław Lem, born in 1921"), "\(example.output)")
    #expect(lines.suffix(5).contains("Solaris, again by Stanisław Lem, scienceFiction, lent to Ada"), "\(example.output)")
    #expect(lines.filter { $0 == "Solaris" || $0 == "Solaris, again" } == ["Solaris", "Solaris, again"], "\(example.output)")
  }
}
