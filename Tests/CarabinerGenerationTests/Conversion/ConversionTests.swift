import CarabinerGenerator
import Foundation
import TestTools
import Testing

@testable import CarabinerGeneration

@Suite("Generation: new configurations")
struct ConversionTests {
  @Test("a new configuration is valid", .rule("generate.13"))
  func least() throws {
    #expect(try GenerationSettings(reading: NewConfiguration().text, file: "").folder == "Generated")
  }

  @Test("settings of apollo-codegen-config.json are converted, and each without a counterpart is listed", .rule("generate.13"))
  func apollo() throws {
    let json = """
      {
        "schemaNamespace": "LibraryAPI",
        "input": {"operationSearchPaths": ["./App/**/*.graphql"], "schemaSearchPaths": ["./schema.graphqls", "./local.graphqls"]},
        "output": {
          "testMocks": {"none": {}},
          "schemaTypes": {"path": "./Generated", "moduleType": {"embeddedInTarget": {"name": "App", "accessModifier": "public"}}},
          "operations": {"relative": {"subpath": "Made"}}
        },
        "operationManifest": {"path": "operations.json", "version": "persistedQueries"},
        "options": {
          "pruneGeneratedFiles": true, "selectionSetInitializers": {"operations": true},
          "schemaCustomization": {"customTypeNames": {"Old": "New", "Genre": {"enum": {"name": "Kind", "cases": {"NOVEL": "long"}}}}}
        },
        "experimentalFeatures": {}
      }
      """
    let new = try NewConfiguration(converting: json, file: "a.json")
    let settings = try GenerationSettings(reading: new.text, file: "")
    let files = [PlacedText("schema.graphqls", line: 1, column: 10), PlacedText("local.graphqls", line: 1, column: 29)]
    #expect(settings.schema == .language(files))
    #expect(settings.documents.map(\.text) == ["App/**/*.graphql"])
    #expect(settings.folder == "./Generated")
    #expect(settings.isBesideDocuments)
    #expect(settings.generator.access == .public)
    #expect(settings.generator.persistedDocuments == .init(file: "operations.json"))
    #expect(settings.generator.renames == ["Old": "New", "Genre": "Kind", "Genre.NOVEL": "long"])
    #expect(
      new.unconverted.map { $0.prefix { $0 != ":" && $0 != " " } } == [
        "schemaNamespace", "output.schemaTypes.moduleType.embeddedInTarget.name", "output.operations.relative.subpath",
        "options.selectionSetInitializers", "experimentalFeatures",
      ])
  }

  @Test(
    "the settings of test mocks are converted, with the module that the other code is in", .rule("generate.13"),
    arguments: [
      (
        #"{"absolute": {"path": "Tests/Mocks"}}"#, #"{"embeddedInTarget": {"name": "App"}}"#, "Tests/Mocks/Mocks.graphql.swift",
        "App"
      ),
      (#"{"swiftPackage": {}}"#, #"{"swiftPackage": {}}"#, "./Made/TestMocks/Mocks.graphql.swift", "LibraryAPI"),
      (#"{"swiftPackage": {"targetName": "M"}}"#, #"{"other": {}}"#, "./Made/M/Mocks.graphql.swift", "LibraryAPI"),
    ])
  func mocks(_ mocks: String, _ module: String, file: String, name: String) throws {
    let json = """
      {"schemaNamespace": "LibraryAPI", "output": {"testMocks": \(mocks), "schemaTypes": {"path": "./Made", "moduleType": \(module)}}}
      """
    let new = try NewConfiguration(converting: json, file: "a.json")
    #expect(try GenerationSettings(reading: new.text, file: "").generator.mocks == .init(file: file, module: name))
    #expect(!new.unconverted.contains { $0.contains("testMocks") })
  }

  @Test("a text that is not a JSON object is a fault", .rule("generate.13"), arguments: ["", "[]", "{"])
  func malformed(_ text: String) throws {
    #expect(throws: GeneratorError.self) { try NewConfiguration(converting: text, file: "a.json") }
  }

  @Test("an existing configuration is not replaced", .rule("generate.14"))
  func existing() throws {
    let project = try Project()
    #expect(try !NewConfiguration().create(at: project.request.configuration))
    #expect(try project.text("carabiner-generate.yaml") == Project.settings)
    #expect(try NewConfiguration().create(at: project.url.appending(path: "other.yaml").path))
  }
}
