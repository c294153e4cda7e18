import Foundation
import TestTools
import Testing

@testable import CarabinerGeneration

@Suite("Generation: documents by patterns")
struct FileSearchTests {
  private func folder(_ files: [String]) throws -> FixturePlugin.Folder {
    let folder = try FixturePlugin.Folder()
    for file in files {
      let url = folder.url.appending(path: file)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: url)
    }
    return folder
  }

  @Test(
    "two stars match any folders, one star a part of a name", .rule("generate.13"),
    arguments: [
      ("**/*.graphql", ["a.graphql", "x/b.graphql", "x/y/c.graphql"]), ("*.graphql", ["a.graphql"]),
      ("x/*.graphql", ["x/b.graphql"]), ("./x/**/*.graphql", ["x/b.graphql", "x/y/c.graphql"]),
      ("x/**", ["x/b.graphql", "x/d.txt", "x/y/c.graphql"]), ("**/y/*", ["x/y/c.graphql"]), ("**/**/c*", ["x/y/c.graphql"]),
      ("x/?.graphql", ["x/b.graphql"]), ("x/[a-c].graphql", ["x/b.graphql"]), ("a.graphql", ["a.graphql"]), ("x", []),
      ("none/**", []), ("**/.h/*", [".h/e.graphql"]),
    ])
  func patterns(_ pattern: String, _ expected: [String]) throws {
    let folder = try folder(["a.graphql", "x/b.graphql", "x/d.txt", "x/y/c.graphql", ".h/e.graphql"])
    var search = FileSearch(root: folder.url.path)
    #expect(try search.files(matching: PathGlob(pattern)) == expected)
  }

  @Test("links to files are files, and links to folders are not followed", .rule("generate.13"))
  func links() throws {
    let folder = try folder(["x/b.graphql"])
    try FileManager.default.createSymbolicLink(
      at: folder.url.appending(path: "x/loop"), withDestinationURL: folder.url.appending(path: "x"))
    try FileManager.default.createSymbolicLink(
      at: folder.url.appending(path: "l.graphql"), withDestinationURL: folder.url.appending(path: "x/b.graphql"))
    var search = FileSearch(root: folder.url.path)
    #expect(try search.files(matching: PathGlob("**/*.graphql")) == ["l.graphql", "x/b.graphql"])
  }

  @Test("folders that are nested too deeply are a fault", .rule("generate.13"))
  func depth() throws {
    let folder = try folder([String(repeating: "d/", count: FileSearch.maximumDepth + 1) + "a.graphql"])
    var search = FileSearch(root: folder.url.path)
    #expect(throws: FileSearch.Fault.self) { try search.files(matching: PathGlob("**/*.graphql")) }
  }

  @Test(
    "paths are normalized without the file system",
    arguments: [("./a//b/./c", "a/b/c"), ("a/../b", "b"), ("../a", "../a"), ("/a/../b", "/b"), ("a/../../b", "../b"), (".", "")])
  func normalized(_ path: String, _ expected: String) { #expect(Paths.normalized(path) == expected) }
}
