import CarabinerManifest
import Foundation
import TestTools
import Testing

@testable import CarabinerBridge
@testable import CarabinerProvider

/// Which Swift libraries a plugin gets, of a host that contains its own. `Scripts/package --check` proves it with such a host.
@Suite("Swift libraries for plugins")
struct SwiftRuntimeTests {
  private let folder: FixturePlugin.Folder
  private let dynamic = DynamicLinks(
    libraries: ["libswiftCore.so", "libFoundation.so", "libc.so.6"], searchPaths: ["/elsewhere"])

  init() throws { folder = try FixturePlugin.Folder() }

  /// The libraries of a host, in whose folder are these versions.
  private func runtime(_ mapping: SwiftRuntime.Mapping, _ names: [String]) throws -> SwiftRuntime {
    for name in names {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
    }
    return SwiftRuntime(mapping: mapping, in: folder.url.path)
  }

  @Test(
    "a plugin that needs libswiftCore.so gets the folder of its version, and without a version the newest", .rule("package.3"))
  func choice() throws {
    let runtime = try runtime(.none, ["swift-6.3.1", "swift-6.3.10", "swift-6.2.4", "swift-", "swift-latest", "other"])
    let base = folder.url.path
    #expect(runtime.choice(for: dynamic, builtWith: "6.2.4") == .folder("\(base)/swift-6.2.4"))
    #expect(runtime.choice(for: dynamic, builtWith: nil) == .folder("\(base)/swift-6.3.10"))
    #expect(runtime.newest?.version == "6.3.10")
  }

  @Test("a plugin that does not name libswiftCore.so needs none, whatever is installed", .rule("package.3"))
  func notNeeded() throws {
    for mapping in [SwiftRuntime.Mapping.none, .version("6.3.1")] {
      let runtime = try runtime(mapping, [])
      #expect(runtime.choice(for: DynamicLinks(libraries: ["libc.so.6"]), builtWith: "6.2.0") == .notNeeded)
    }
  }

  @Test("without the package none is found, and its name has the first two numbers of the version", .rule("package.3"))
  func missing() throws {
    #expect(try runtime(.none, []).choice(for: dynamic, builtWith: "6.3.1") == .missing)
    #expect(SwiftRuntime(mapping: .none, in: nil).choice(for: dynamic, builtWith: nil) == .missing)
    #expect(SwiftRuntime(mapping: .none, in: "/nonexistent").choice(for: dynamic, builtWith: nil) == .missing)
    #expect(SwiftRuntime.packageName(for: "6.3.1") == "carabiner-swift-6.3")
  }

  @Test(
    "a plugin for another version than that of the mapped libraries is refused, and one without a version is not",
    .rule("package.4"))
  func mapped() throws {
    let runtime = try runtime(.version("6.3.1"), ["swift-6.2.4"])
    #expect(runtime.choice(for: dynamic, builtWith: "6.2.4") == .otherVersion("6.3.1"))
    #expect(runtime.choice(for: dynamic, builtWith: "6.3.1") == .mapped)
    #expect(runtime.choice(for: dynamic, builtWith: nil) == .mapped)
    #expect(try self.runtime(.version(nil), []).choice(for: dynamic, builtWith: "6.2.4") == .mapped)
  }

  @Test("a plugin for a version that is not installed is refused, if another one is", .rule("package.4"))
  func otherVersion() throws {
    let runtime = try runtime(.none, ["swift-6.3.1"])
    #expect(runtime.choice(for: dynamic, builtWith: "6.3.0") == .otherVersion("6.3.1"))
  }

  @Test(
    "the kit's note has the version of Swift that make names", .rule("package.4"),
    arguments: [("6.3.1", "6.3.1"), ("6.4", "6.4"), (nil, nil)])
  func note(defined: String?, expected: String?) async throws {
    let definitions = ["NOTE_SWIFT"] + (defined.map { ["CRB_SWIFT_VERSION=\($0)"] } ?? [])
    let path = try await FixturePlugin.compile("loading", defining: definitions, into: folder)
    let note = try PluginNote.inspect(path: path).note
    #expect(note.swiftVersion == expected)
    #expect(note.id == "org.carabiner.test.loading")
  }

  @Test(
    "a version that is not one makes the note unusable", .rule("package.4"),
    arguments: ["", "6", "6.3.1.2.3", "6..1", "6.3-dev", "99999.1"])
  func badVersion(text: String) async throws {
    let path = try await FixturePlugin.compile("loading", defining: ["NOTE_SWIFT", "CRB_SWIFT_VERSION=\(text)"], into: folder)
    let error = #expect(throws: HostError.self) { try PluginNote.inspect(path: path) }
    #expect(
      error?.code == .badNote && error?.message.contains("\"swift\" is not a version") == true, "\(String(describing: error))")
  }

  @Test("a plugin without Swift libraries loads, whatever version its note has", .rule("package.4"))
  func staticPlugin() async throws {
    let path = try await FixturePlugin.compile("loading", defining: ["NOTE_SWIFT", "CRB_SWIFT_VERSION=5.1"], into: folder)
    #expect(try PluginLibrary.load(path: path, mode: .memfd).note.swiftVersion == "5.1")
  }
}
