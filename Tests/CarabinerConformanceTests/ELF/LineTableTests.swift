import Foundation
import TestTools
import Testing

@testable import CarabinerConformance

/// Debug information of compilers, and such that no compiler writes.
@Suite("The lines of debug information")
struct LineTableTests {
  private static let source = "int number(int a) {\n  a += 1;\n  return a * 7;\n}\n"

  private func object(_ flags: [String], in folder: FixturePlugin.Folder) async throws -> SharedObject {
    let (source, output) = (folder.file("source.c"), folder.file("library.so"))
    try Data(Self.source.utf8).write(to: source)
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/cc"), ["-shared", "-fPIC", "-O0", "-o", output.path, source.path] + flags)
    #expect(run.status == 0, "\(run.errors)")
    return try SharedObject(Array(try Data(contentsOf: output)))
  }

  /// The offsets of all instructions of a small library.
  private static let offsets = (0x1000..<0x1400).map(UInt64.init)

  @Test("of each version are found with their function and their file", arguments: [2, 3, 4, 5])
  func versions(_ version: Int) async throws {
    let folder = try FixturePlugin.Folder()
    let found = try await object(["-g", "-gdwarf-\(version)"], in: folder).sources(of: Self.offsets)
    let inside = found.filter { $0.line != nil }
    #expect(Set(inside.compactMap(\.line)) == [1, 2, 3, 4])
    #expect(Set(inside.compactMap(\.file)) == [folder.file("source.c").path])
    #expect(Set(inside.map(\.function)) == ["number"])
    #expect(found.first { $0.line == 3 }?.offset ?? 0 > found.first { $0.line == 2 }?.offset ?? .max)
  }

  @Test("are none without debug information, and in compressed sections")
  func none() async throws {
    let folder = try FixturePlugin.Folder()
    for flags in [[], ["-g", "-gz"]] {
      let found = try await object(flags, in: folder).sources(of: Self.offsets)
      #expect(found.allSatisfy { $0.file == nil && $0.line == nil })
      #expect(found.contains { $0.function == "number" })
    }
  }

  @Test("that are changed or cut anywhere never end the process", arguments: [4, 5])
  func damaged(_ version: Int) async throws {
    let folder = try FixturePlugin.Folder()
    let object = try await object(["-g", "-gdwarf-\(version)"], in: folder)
    let sections = object.sections
    let lines = object.bytes(of: ".debug_line", in: sections)
    let texts = object.bytes(of: ".debug_line_str", in: sections)
    #expect(lines.count > 50)
    for index in lines.indices {
      _ = LineTable(lines: Array(lines[..<index]), lineTexts: texts).places(of: [0x1100])
      for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
        var changed = lines
        changed[index] = byte
        for (_, place) in LineTable(lines: changed, lineTexts: texts).places(of: Self.offsets) { #expect(place.line > 0) }
      }
    }
  }

  @Test("of a file whose section headers are wrong are none", arguments: [40, 58, 60, 62])
  func headers(_ field: Int) async throws {
    let folder = try FixturePlugin.Folder()
    _ = try await object(["-g"], in: folder)
    var bytes = Array(try Data(contentsOf: folder.file("library.so")))
    for value: UInt8 in [0, 1, 0x7F, 0xFF] {
      for index in field..<(field + 2) { bytes[index] = value }
      _ = try SharedObject(bytes).sources(of: Self.offsets)
    }
  }

  @Test(
    "have paths without detours",
    arguments: [
      ("/home/a", "b.c", "/home/a/b.c"), ("/home/a", "/b.c", "/b.c"), ("/home/a", "../b/./c.c", "/home/b/c.c"),
      ("", "src/lib.rs", "src/lib.rs"),
      ("/", "../../b.c", "/../../b.c"), (".", "../b.c", "../b.c"),
    ])
  func paths(_ folder: String, _ name: String, _ path: String) { #expect(LineTable.path(folder, name) == path) }

  @Test(
    "have functions with the names of their language",
    arguments: [
      ("_ZN5audit10on_requestEv", "audit::on_request()"),
      ("_ZN5audit10on_request17h0123456789abcdefE", "audit::on_request"), ("$s5audit9onRequestyyF", "audit.onRequest() -> ()"),
      ("on_request", "on_request"), ("_Z", "_Z"), ("$s", "$s"),
    ])
  func names(_ symbol: String, _ name: String) { #expect(SymbolName.decoded(symbol) == name) }
}
