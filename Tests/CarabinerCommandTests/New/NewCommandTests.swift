import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The first steps with a new plugin. `Scripts/newcomer` checks that it builds, conforms and joins a chain.
@Suite("carabiner new")
struct NewCommandTests {
  private static let languages = ["c", "cpp", "rust", "swift"]
  private static let stages = ["graphql", "http", "cache", "parsing"]
  private static let common = [
    ".github/workflows/ci.yml", ".gitignore", "Makefile", "README.md", "carabiner.yaml", "query.graphql",
  ]
  private static let sources = [
    "c": ["plugin.c"], "cpp": ["plugin.cpp"], "rust": ["Cargo.toml", "src/lib.rs"],
    "swift": [
      "Package.swift", "Sources/Interceptor/Entry.swift", "Sources/Interceptor/Interceptor.swift", "Sources/Note/include/note.h",
      "Sources/Note/note.c",
    ],
  ]

  private func new(_ name: String, _ language: String, _ stage: String, in folder: URL, _ more: [String] = []) async throws
    -> CommandRun
  {
    try await CommandRun(["new", name, "--language", language, "--stage", stage, "--directory", folder.path] + more)
  }

  /// The files below a folder and their texts.
  private func files(of folder: URL) throws -> [String: String] {
    var files: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let file = folder.appending(path: path)
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
      files[path] = try String(contentsOf: file, encoding: .utf8)
    }
    return files
  }

  private func contents(of folder: FixturePlugin.Folder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
  }

  @Test("every language and stage has its files, and no placeholder is left in them", arguments: languages, stages)
  func files(_ language: String, _ stage: String) async throws {
    let folder = try FixturePlugin.Folder()
    let run = try await new("word-count", language, stage, in: folder.url)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try contents(of: folder) == ["word-count"])
    let files = try files(of: folder.file("word-count"))
    #expect(files.keys.sorted() == (Self.common + (Self.sources[language] ?? [])).sorted())
    for (path, text) in files {
      for placeholder in ["my-plugin", "MyPlugin", "@@"] {
        #expect(!text.contains(placeholder), "\(path) has \(placeholder)")
      }
      #expect(text.hasSuffix("\n") && !text.contains("\n\n\n"), "\(path) begins or ends badly")
    }
    let code = Self.sources[language, default: []].compactMap { files[$0] }.joined()
    #expect(code.contains("org.example.word-count"))
    #expect(files["Makefile"]?.contains("build/word-count.so") == true)
    #expect(run.output.contains("make conform") && run.output.contains("carabiner run"))
  }

  @Test("the generated pipeline installs every package that building from source needs")
  func pipeline() async throws {
    let folder = try FixturePlugin.Folder()
    #expect(try await new("word-count", "c", "http", in: folder.url).status == 0)
    let pipeline = try String(contentsOf: folder.file("word-count/.github/workflows/ci.yml"), encoding: .utf8)
    let demo = try String(contentsOf: Repository.root.appending(path: "Scripts/demo"), encoding: .utf8)
    let packages = try #require(demo.firstMatch(of: /\npackages=\(([^)]*)\)/)).1.split(separator: " ")
    #expect(packages.count > 5)
    for package in packages { #expect(pipeline.contains(" \(package)"), "\(package) is missing") }
  }

  @Test("the manifest is valid, with the plugin in the list of its stage", arguments: stages)
  func manifest(_ stage: String) async throws {
    let folder = try FixturePlugin.Folder()
    #expect(try await new("word-count", "c", stage, in: folder.url).status == 0)
    let manifest = folder.file("word-count/carabiner.yaml").path
    // Only files that make builds are missing.
    let check = try await CommandRun(["check", "-m", manifest, "--format", "json"])
    let problems = try JSONValue(parsing: check.output)["problems"]?.array ?? []
    #expect(problems.map { $0["code"]?.string } == ["missing"], "\(check.output)")
    let build = folder.file("word-count/build")
    try FileManager.default.createDirectory(at: build, withIntermediateDirectories: false)
    try Data().write(to: build.appending(path: "word-count.so"))
    let chain = try await CommandRun(["chain", "-m", manifest, "--format", "json"])
    #expect(chain.status == 0, "\(chain.errors)")
    let names = try JSONValue(parsing: chain.output)["stages"]?[stage]?.array?.map { $0["name"]?.string }
    #expect(names?.contains("word-count") == true, "\(chain.output)")
  }

  @Test("a given id is in the note and in the table, and a Swift module is named after the plugin")
  func names() async throws {
    let folder = try FixturePlugin.Folder()
    // Text that looks like a name of the template is not a placeholder inside an id.
    let id = "com.acme.my-plugin_2"
    #expect(try await new("a-1-b", "swift", "cache", in: folder.url, ["--id", id]).status == 0)
    let files = try files(of: folder.file("a-1-b"))
    #expect(files["Sources/Note/note.c"]?.contains(#"\"id\":\"com.acme.my-plugin_2\""#) == true)
    #expect(files["Sources/Interceptor/Interceptor.swift"]?.contains("id: \"\(id)\"") == true)
    #expect(files["Package.swift"]?.contains("name: \"A1B_1_0_0\"") == true)
  }

  @Test(
    "a name that is not valid everywhere is refused, with the allowed form",
    arguments: [
      "", "A", "1a", "-a", "a-", "a--b", "a_b", "a b", "ä", "a/b", "..", "a.b", "a\n", String(repeating: "a", count: 65),
    ])
  func badName(_ name: String) async throws {
    let folder = try FixturePlugin.Folder()
    let run = try await CommandRun(["new", "--language", "c", "--stage", "http", "--directory", folder.url.path, "--", name])
    #expect(run.status == 2)
    #expect(run.errors.contains("small letters a to z, digits and single hyphens"), "\(run.errors)")
    #expect(try contents(of: folder).isEmpty)
  }

  @Test(
    "names that Carabiner uses itself are refused",
    arguments: ["json", "store", "response-code", "delegate", "max-retry", "carabiner", "kit"])
  func takenName(_ name: String) async throws {
    let folder = try FixturePlugin.Folder()
    let run = try await new(name, "rust", "http", in: folder.url)
    #expect(run.status == 2)
    #expect(run.errors.contains("choose another, as in my-\(name)"), "\(run.errors)")
    #expect(try contents(of: folder).isEmpty)
  }

  @Test(
    "an id that is not a reverse-DNS name is refused",
    arguments: ["plugin", "a..b", "a.b c", "org.\(String(repeating: "a", count: 125))"])
  func badID(_ id: String) async throws {
    let folder = try FixturePlugin.Folder()
    let run = try await new("word-count", "c", "http", in: folder.url, ["--id", id])
    #expect(run.status == 2)
    #expect(run.errors.contains("reverse-DNS name") && run.errors.contains("128 bytes"), "\(run.errors)")
    #expect(try contents(of: folder).isEmpty)
  }

  @Test("languages and stages that are not there are refused with those that are")
  func unknown() async throws {
    let folder = try FixturePlugin.Folder()
    let language = try await new("word-count", "go", "http", in: folder.url)
    #expect(language.status == 2)
    for each in Self.languages { #expect(language.errors.contains("'\(each)'")) }
    let stage = try await new("word-count", "c", "tcp", in: folder.url)
    #expect(stage.status == 2)
    for each in Self.stages { #expect(stage.errors.contains("'\(each)'")) }
    #expect(try await CommandRun(["new", "word-count", "--language", "c", "--directory", folder.url.path]).status == 2)
    #expect(try contents(of: folder).isEmpty)
  }

  @Test("an existing file, folder or link is not changed", arguments: ["file", "folder", "link"])
  func taken(_ kind: String) async throws {
    let folder = try FixturePlugin.Folder()
    let place = folder.file("word-count")
    switch kind {
    case "file": try Data("mine".utf8).write(to: place)
    case "folder":
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: place.appending(path: "notes"))
    default: try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: folder.file("nowhere").path)
    }
    let run = try await new("word-count", "c", "http", in: folder.url)
    #expect(run.status == 2)
    #expect(run.errors.contains("is there already"), "\(run.errors)")
    #expect(try contents(of: folder) == ["word-count"])
    switch kind {
    case "file": #expect(try String(contentsOf: place, encoding: .utf8) == "mine")
    case "folder": #expect(try files(of: place) == ["notes": "mine"])
    default: #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place.path) == folder.file("nowhere").path)
    }
  }

  @Test("an empty folder is filled")
  func emptyFolder() async throws {
    let folder = try FixturePlugin.Folder()
    try FileManager.default.createDirectory(at: folder.file("word-count"), withIntermediateDirectories: false)
    #expect(try await new("word-count", "c", "http", in: folder.url).status == 0)
    #expect(try contents(of: folder) == ["word-count"])
    #expect(try files(of: folder.file("word-count")).keys.contains("plugin.c"))
  }

  @Test("a missing folder and a read-only folder are refused")
  func unwritable() async throws {
    let folder = try FixturePlugin.Folder()
    let missing = try await new("word-count", "c", "http", in: folder.file("nowhere"))
    #expect(missing.status == 2)
    #expect(missing.errors.contains("there is no folder"), "\(missing.errors)")
    // Even root may not write there.
    let refused = try await new("word-count", "c", "http", in: URL(filePath: "/proc"))
    #expect(refused.status == 3)
    #expect(refused.errors.contains("/proc/word-count cannot be written"), "\(refused.errors)")
    #expect(try contents(of: folder).isEmpty)
  }
}
