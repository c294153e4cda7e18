import CarabinerGenerator
import CarabinerSchema
import Foundation
import TestTools
import Testing

@Suite("Generator: files")
struct FilesTests {
  /// The files of GeneratedSample are compiled with `public` access in a module of their own, so this is also the proof that generated code
  /// compiles with the settings of this package.
  ///
  /// `CARABINER_RECORD=1 swift test` rewrites them.
  @Test("the files of a sample are those that are compiled as another module", .rule("generate.1"))
  func golden() throws {
    var configuration = GeneratorConfiguration()
    configuration.access = .public
    configuration.scalars = [
      "Date": GeneratorConfiguration.Scalar(type: "Foundation.Date", module: "Foundation", coding: "ISO8601Date"),
      "Link": GeneratorConfiguration.Scalar(type: "URL", module: "Foundation"),
    ]
    // The tests use another type named Words.
    configuration.renames = ["Mock<Words>": "WordsMock"]
    configuration.mocks = .init(file: "Mocks.graphql.swift", module: "GeneratedSample")
    let files = try CodeGenerator(schema: try Sample.schema(), configuration: configuration).files(for: try Sample.documents())
    let folder = Sample.folder.appending(path: "Generated")
    // The mocks are in the test target, as those of users.
    func url(_ file: GeneratedFile) -> URL {
      let tests = Sample.folder.deletingLastPathComponent().appending(path: "CarabinerGeneratorTests/Mocks")
      return (file.name == configuration.mocks?.file ? tests : folder).appending(path: file.name)
    }
    if ProcessInfo.processInfo.environment["CARABINER_RECORD"] == "1" {
      for file in files { try Data(file.text.utf8).write(to: url(file)) }
    }
    for file in files {
      let golden = try String(contentsOf: url(file), encoding: .utf8)
      #expect(file.text == golden, "\(file.name) differs; look at it, then record it with CARABINER_RECORD=1")
    }
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(files.dropLast().map(\.name)))
  }

  @Test("documents in any order give the same files", .rule("generate.1"))
  func deterministic() throws {
    let generator = CodeGenerator(schema: try Sample.schema())
    let documents = try Sample.documents()
    let files = try generator.files(for: documents)
    for _ in 0..<5 { #expect(try generator.files(for: documents.shuffled()) == files) }
    #expect(
      files.map(\.name) == [
        "BookQuery.graphql.swift", "Fragments.graphql.swift", "LocalChanges.graphql.swift", "NodeQuery.graphql.swift",
        "Reviews.graphql.swift",
        "SearchQuery.graphql.swift", "Words.graphql.swift", "SchemaTypes.graphql.swift", "SchemaConfiguration.graphql.swift",
      ])
  }

  @Test("the text of an operation is at most 60 % of that of Apollo iOS 2", .rule("generate.17"))
  func length() throws {
    let schema = try Schema(
      parsing: """
        type Query { hero(episode: Episode): Character }
        enum Episode { NEWHOPE EMPIRE JEDI }
        interface Character { "The name of the character" name: String! }
        type Human implements Character {
          "The name of the character" name: String!
          "Height in the preferred unit, default is meters" height: Float
        }
        type Droid implements Character {
          "The name of the character" name: String!
          "This droid's primary function" primaryFunction: String
        }
        """)
    var configuration = GeneratorConfiguration()
    configuration.access = .public
    let document = """
      query HeroDetails($episode: Episode) {
        hero(episode: $episode) { name ... on Human { height } ... on Droid { primaryFunction } }
      }
      """
    let files = try CodeGenerator(schema: schema, configuration: configuration)
      .files(for: [DocumentSource(file: "HeroDetails.graphql", text: document)])
    let text = try #require(files.first { $0.name == "HeroDetails.graphql.swift" }?.text)
    // Its generator writes 5,419 bytes for the same query, with the initializers of selection sets.
    #expect(text.contains("asDroid") && text.utf8.count * 100 <= 5419 * 60, "\(text.utf8.count) bytes")
  }

  @Test("only types that documents use are generated", .rule("generate.1"))
  func usedTypes() throws {
    let text = try Sample.text("query A { books { genre } }")
    #expect(text.contains("enum Genre: String"))
    #expect(!text.contains("struct BookFilter"))
    #expect(!text.contains("enum Type"))
    let empty = try CodeGenerator(schema: try Sample.schema()).files(for: [DocumentSource(file: "a.graphql", text: "# nothing\n")]
    )
    #expect(empty.isEmpty)
  }

  @Test(
    "access and the module of the library are as configured", .rule("generate.1"), arguments: ["internal", "package", "public"])
  func access(_ word: String) throws {
    let text = try Sample.text("query A { books { title } }") { configuration in
      configuration.access = GeneratorConfiguration.Access(rawValue: word) ?? .internal
      configuration.clientModule = "Client"
    }
    #expect(text.contains("\n" + (word == "internal" ? "" : word + " ") + "import Client\n"))
    #expect(text.contains("\n" + (word == "internal" ? "" : word + " ") + "struct AQuery: GraphQLQuery"))
  }

  @Test("descriptions are comments, and deprecations are attributes", .rule("generate.8"))
  func documentation() throws {
    let text = try Sample.text(
      """
      "Finds a book."
      query A("Which one." $id: ID!) { book(id: $id) { title genre isLent } }
      """)
    #expect(text.contains("/// Finds a book.\nstruct AQuery"))
    #expect(text.contains("  /// Which one.\n  var id: ID"))
    #expect(text.contains("/// The title on the cover.\n      let title: String"))
    #expect(text.contains("@available(*, deprecated, message: \"Use loans.\")\n      var isLent: Bool"))
    #expect(text.contains("@available(*, deprecated, message: \"Use \\\"NOVEL\\\".\")\n  case crime = \"CRIME\""))
  }
}
