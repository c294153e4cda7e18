import CarabinerBridge
import Foundation
import TestTools
import Testing

@Suite("Imports of a plugin")
struct RefusedImportTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  @Test(
    "the reader and nm agree, whatever the table of symbols", arguments: ["gnu", "sysv", "both"], ["state", "services", "crash"])
  func names(style: String, source: String) async throws {
    let path = try await FixturePlugin.compile(source, into: folder, linking: ["-Wl,--hash-style=\(style)"])
    let run = try await ToolRun(URL(filePath: "/usr/bin/nm"), ["-D", "--undefined-only", "--format=just-symbols", path])
    let expected = Set(run.output.split(separator: "\n").map { String($0.prefix { $0 != "@" }) })
    #expect(!expected.isEmpty)
    #expect(try ELFImage([UInt8](Data(contentsOf: URL(filePath: path)))).imports() == expected)
  }

  @Test("only functions that a worker refuses are reported")
  func refused() async throws {
    let reach = folder.file("reach.c")
    try Data(
      "#include <stdlib.h>\n#include <fcntl.h>\n__attribute__((used)) static int reach(void) { return system(\"\") + open(\"\", 0); }"
        .utf8
    ).write(to: reach)
    let plugin = try await FixturePlugin.compile("state", into: folder, linking: [reach.path])
    #expect(try RefusedImports.of(path: plugin) == ["system"])
    let plain = try await FixturePlugin.compile("state", into: folder, name: "plain.so")
    #expect(try RefusedImports.of(path: plain).isEmpty)
    #expect(throws: HostError.self) { try RefusedImports.of(path: reach.path) }
  }

  @Test("no changed byte of the file makes the reader trap")
  func mutations() async throws {
    let path = try await FixturePlugin.compile("state", into: folder)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    var read = 0
    for offset in stride(from: 16, to: bytes.count, by: bytes.count > 20_000 ? 7 : 3) {
      for value: UInt8 in [0, 0x7F, 0xFF] {
        var changed = bytes
        changed[offset] = value
        if let image = try? ELFImage(changed), (try? image.imports().isEmpty) == false { read += 1 }
      }
    }
    #expect(read > 0)
  }
}
