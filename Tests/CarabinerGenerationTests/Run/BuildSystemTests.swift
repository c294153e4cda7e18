import CarabinerGeneration
import Foundation
import TestTools
import Testing

@Suite("Generation: builds")
struct BuildSystemTests {
  @Test(
    "each file that a build expects is there, also without declarations, and faults have absolute paths", .rule("generate.15"))
  func declaredFiles() throws {
    var project = try Project(
      ["A.graphql": "query A { book { title } }", "Empty.graphql": "# later\n"],
      settings: "schema: schema.graphqls\noutput: {folder: Generated, manifest: m.json, mocks: Mocks}\n")
    project.request.documents = ["A.graphql", "Empty.graphql"].map { project.url.appending(path: $0).path }
    project.request.output = project.url.appending(path: "build").path
    try project.generate()
    for name in ["A", "Empty", "SchemaTypes", "SchemaConfiguration"] { #expect(project.exists("build/\(name).graphql.swift")) }
    #expect(!project.exists("Generated") && !project.exists("m.json") && !project.exists("Mocks"))
    try project.write("A.graphql", "query A { book { x } }")
    do {
      try project.generate()
      Issue.record("the fault was not found")
    } catch {
      #expect("\(error)".hasPrefix(project.url.appending(path: "A.graphql").path + ":1:18: error: "), "\(error)")
    }
  }
}
