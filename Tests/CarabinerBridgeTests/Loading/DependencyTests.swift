import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import Foundation
import Glibc
import TestTools
import Testing

/// Libraries that are found by the search path of a plugin.
@Suite("Libraries a plugin needs")
struct DependencyTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// A name that differs from other tests, because a process loads a library name only once.
  private let token = UUID().uuidString.filter(\.isHexDigit)

  private var libraryName: String { "libfixture\(token).so" }
  private var librariesPath: String { folder.file("lib").path }

  private func makeFolder() throws {
    try FileManager.default.createDirectory(
      atPath: librariesPath, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
  }

  /// Builds a library in the folder lib.
  private func library(_ number: Int = 7, named soname: String? = nil) async throws -> String {
    try makeFolder()
    let path = try await FixturePlugin.compile(
      "library", defining: ["NUMBER=\(number)"], into: folder, name: "lib/\(libraryName)",
      linking: soname == "" ? [] : ["-Wl,-soname,\(soname ?? libraryName)"])
    return path
  }

  /// Builds a plugin that needs the library and works only with its version 7.
  private func plugin(_ linking: [String], needs number: Int = 7, name: String = "plugin.so") async throws -> String {
    try await FixturePlugin.compile("loading", defining: ["NEEDS=\(number)"], into: folder, name: name, linking: linking)
  }

  private func searching(_ path: String, isOld: Bool = false) -> [String] {
    ["-L\(librariesPath)", "-l:\(libraryName)", "-Wl,\(isOld ? "--disable-new-dtags" : "--enable-new-dtags"),-rpath,\(path)"]
  }

  private func refusal(
    of path: String, allowing paths: Set<String> = [], mode: StagedCopy.Mode = StagedCopy.defaultMode
  ) -> HostError? {
    do throws(HostError) {
      _ = try PluginLibrary.load(path: path, mode: mode, libraryPaths: paths)
      return nil
    } catch {
      return error
    }
  }

  @Test("a search path in RUNPATH or RPATH is refused by its name, and loads if it is allowed", arguments: [false, true])
  func searchPath(isOld: Bool) async throws {
    _ = try await library()
    let path = try await plugin(searching(librariesPath, isOld: isOld))
    let refused = refusal(of: path)
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("library-paths: [\"\(librariesPath)\"]") == true, "\(refused?.message ?? "")")
    #expect(refusal(of: path, allowing: ["/elsewhere"])?.code == .unsafeLibrary)
    #expect(refusal(of: path, allowing: [librariesPath]) == nil)
    // The library is loaded now, but an entry without permission is still refused.
    #expect(refusal(of: path)?.code == .unsafeLibrary)
  }

  @Test("$ORIGIN is the folder of the plugin and not of its copy", arguments: [StagedCopy.Mode.memfd, .directory])
  func origin(mode: StagedCopy.Mode) async throws {
    _ = try await library()
    let path = try await plugin(searching("$ORIGIN/lib"))
    #expect(refusal(of: path, mode: mode)?.code == .unsafeLibrary)
    #expect(refusal(of: path, allowing: ["$ORIGIN/lib"], mode: mode) == nil)
  }

  @Test("an empty search path is the working folder and cannot be allowed")
  func empty() async throws {
    _ = try await library()
    let path = try await plugin(searching("\(librariesPath):"))
    let refused = refusal(of: path, allowing: [librariesPath])
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("the working folder") == true)
  }

  @Test("a folder or a library others may write to is refused also if its path is allowed")
  func writable() async throws {
    let library = try await library()
    let path = try await plugin(searching(librariesPath))
    unsafe chmod(librariesPath, 0o777)
    let refused = refusal(of: path, allowing: [librariesPath])
    #expect(refused?.code == .unsafeLibrary)
    #expect(
      refused?.message.contains("other users may write to the folder \(librariesPath)") == true, "\(refused?.message ?? "")")
    unsafe chmod(librariesPath, 0o755)
    unsafe chmod(library, 0o777)
    #expect(refusal(of: path, allowing: [librariesPath])?.code == .unsafeMode)
    unsafe chmod(library, 0o755)
    if geteuid() == 0 {
      unsafe chown(library, 65_534, 65_534)
      #expect(refusal(of: path, allowing: [librariesPath])?.code == .unsafeOwner)
      unsafe chown(library, 0, 0)
    }
    #expect(refusal(of: path, allowing: [librariesPath]) == nil)
  }

  @Test("a folder that is not there is refused where others may make it")
  func absentFolder() async throws {
    _ = try await library()
    let shared = folder.file("shared").path
    try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: false)
    unsafe chmod(shared, 0o1777)
    let path = try await plugin(searching("\(shared)/absent:\(librariesPath)"))
    let refused = refusal(of: path, allowing: ["\(shared)/absent", librariesPath])
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("every user could create it") == true, "\(refused?.message ?? "")")
    unsafe chmod(shared, 0o755)
    #expect(refusal(of: path, allowing: ["\(shared)/absent", librariesPath]) == nil)
  }

  @Test("a library that is needed by a path is refused by its name, and loads if it is allowed")
  func path() async throws {
    // Without a SONAME, the linker stores the path as it was given.
    let library = try await library(named: "")
    let absolute = try await plugin([library])
    let refused = refusal(of: absolute)
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("by a path") == true, "\(refused?.message ?? "")")
    #expect(refusal(of: absolute, allowing: [library]) == nil)
  }

  @Test("a library in the working folder is refused before anything of it is loaded")
  func workingFolder() async throws {
    // The linker stores the SONAME as the name that the plugin needs.
    _ = try await library(named: "./libcwd.so")
    let path = try await plugin(["\(librariesPath)/\(libraryName)"])
    let refused = refusal(of: path)
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("./libcwd.so") == true, "\(refused?.message ?? "")")
    let byOrigin = try await FixturePlugin.compile(
      "library", defining: ["NUMBER=7"], into: folder, name: "lib/\(libraryName)", linking: ["-Wl,-soname,$ORIGIN/libcwd.so"])
    let variable = try await plugin([byOrigin], name: "variable.so")
    #expect(refusal(of: variable, allowing: ["$ORIGIN/libcwd.so"])?.code == .unsafeLibrary)
  }

  @Test("the dependencies of a library are checked in the same way")
  func transitive() async throws {
    let inner = folder.file("inner").path
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    try makeFolder()
    _ = try await FixturePlugin.compile(
      "library", defining: ["INNER", "NUMBER=7"], into: folder, name: "inner/libinner\(token).so",
      linking: ["-Wl,-soname,libinner\(token).so"])
    _ = try await FixturePlugin.compile(
      "library", defining: ["NEEDS"], into: folder, name: "lib/\(libraryName)",
      linking: ["-Wl,-soname,\(libraryName)", "-L\(inner)", "-l:libinner\(token).so", "-Wl,-rpath,$ORIGIN/../inner"])
    let path = try await plugin(searching(librariesPath) + ["-Wl,--allow-shlib-undefined"])
    let refused = refusal(of: path, allowing: [librariesPath])
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("$ORIGIN/../inner") == true, "\(refused?.message ?? "")")
    #expect(refusal(of: path, allowing: [librariesPath, "$ORIGIN/../inner"]) == nil)
  }

  @Test("another version of a library that is loaded is refused, and not silently the old one")
  func anotherVersion() async throws {
    let first = try await library(7)
    #expect(refusal(of: try await plugin(searching(librariesPath)), allowing: [librariesPath]) == nil)
    unsafe unlink(first)
    _ = try await library(8)
    let refused = refusal(
      of: try await plugin(searching(librariesPath), needs: 8, name: "next.so"), allowing: [librariesPath])
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("is loaded already") == true, "\(refused?.message ?? "")")
  }

  @Test("a library without the name it is needed by is refused, for the dynamic linker would look for it again")
  func soname() async throws {
    _ = try await library()
    let path = try await plugin(searching(librariesPath))
    _ = try await library(named: "libother\(token).so")
    let refused = refusal(of: path, allowing: [librariesPath])
    #expect(refused?.code == .unsafeLibrary)
    #expect(refused?.message.contains("SONAME") == true, "\(refused?.message ?? "")")
  }

  @Test("a library that is only below an allowed folder is not found there")
  func belowFolder() async throws {
    let library = try await library()
    let path = try await plugin(searching(librariesPath))
    for name in ["glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v3", "tls"] {
      let below = "\(librariesPath)/\(name)"
      try FileManager.default.createDirectory(atPath: below, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: library, toPath: "\(below)/\(libraryName)")
      unsafe chmod(below, 0o777)
    }
    unsafe unlink(library)
    #expect(refusal(of: path, allowing: [librariesPath])?.code == .openFailed)
  }

  @Test("the library of a declared call is looked at like a plugin if it is named by its path")
  func declaredCall() async throws {
    let library = try await library()
    let here = JSONPointer().appending("ffi")
    func function(_ path: String) throws -> FFIFunction {
      let declaration: JSONValue = [
        "library": .string(path), "function": "fixture_number", "returns": "i32", "header": "X-Number", "arguments": [],
      ]
      return try FFIFunction(FFIDeclaration(declaration, at: here), at: here, directory: folder.url.path)
    }
    unsafe chmod(librariesPath, 0o777)
    let problem = #expect(throws: ManifestProblem.self) { try function(library) }
    #expect(problem?.message.contains("other users may write to the folder") == true, "\(problem?.message ?? "")")
    unsafe chmod(librariesPath, 0o755)
    #expect(try function("./lib/\(libraryName)").call(body: Data()) == "7")
  }
}
