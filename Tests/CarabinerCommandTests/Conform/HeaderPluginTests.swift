import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The example plugin of the header, built by the instructions in the header only.
@Suite("The header's first plugin")
struct HeaderPluginTests {
  private let folder: FixturePlugin.Folder
  private let header: [String]

  init() throws {
    folder = try FixturePlugin.Folder()
    let path = Repository.root.appending(path: "Sources/CCarabiner/include/carabiner.h")
    header = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "\n")
    let start = try #require(header.firstIndex { $0.hasSuffix("#include <carabiner.h>") })
    let end = try #require(header[start...].firstIndex { $0.contains("crb_entry_v1(") })
    let text = header[start...end].map { $0.dropFirst(" *     ".count) }.joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: folder.file("hello.c"))
  }

  /// Builds the plugin with a shell command and runs all checks.
  private func expectLevelTen(_ line: String, _ environment: [String: String] = [:]) async throws {
    let built = try await ToolRun(URL(filePath: "/bin/sh"), ["-ec", line], environment: environment, in: folder.url)
    #expect(built.status == 0 && built.errors.isEmpty, "\(line): \(built.errors)")
    let run = try await CommandRun([
      "conform", "--level", "10", "--effort", "0.01", "--format", "json", folder.file("hello.so").path,
    ])
    let checks = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array ?? []
    #expect(checks.count > 60)
    let found = checks.filter { !["PASS", "SKIP"].contains($0["status"]?.string ?? "") }
    #expect(found.isEmpty, "\(found)")
    #expect(run.status == 0)
  }

  @Test("built by the line beside it, it conforms at level 10")
  func buildLine() async throws {
    let line = try #require(header.first { $0.contains("-o hello.so hello.c") })
    let include = Repository.root.appending(path: "Sources/CCarabiner/include").path
    try await expectLevelTen(String(line.dropFirst(" *     ".count)), ["CPATH": include])
  }

  @Test("built with the flags of pkg-config alone, it conforms at level 10")
  func packageConfig() async throws {
    let root = Repository.root
    for (file, place) in [
      ("Kits/pkgconfig/carabiner.pc", "lib/pkgconfig/carabiner.pc"), ("Kits/plugin.map", "share/carabiner/plugin.map"),
      ("CCarabiner/include/carabiner.h", "include/carabiner.h"),
    ] {
      let text = try String(contentsOf: root.appending(path: "Sources/\(file)"), encoding: .utf8)
      let target = folder.file(place)
      try FileManager.default.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.replacing("@VERSION@", with: "1.0.0").utf8).write(to: target)
    }
    try await expectLevelTen(
      "cc -std=c11 -fPIC -shared $(pkg-config --cflags --libs carabiner) -o hello.so hello.c",
      ["PKG_CONFIG_PATH": folder.file("lib/pkgconfig").path])
  }
}
