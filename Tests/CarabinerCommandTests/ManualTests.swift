import CommandTools
import Foundation
import TestTools
import Testing

/// Manual pages that `Scripts/install` generates from the output of the argument parser.
@Suite("Manual pages")
struct ManualTests {
  @Test("a page is found by the words of its command, and that of serve says what --help cannot")
  func pages() async throws {
    let folder = try StoreFolder()
    _ = try folder.write(
      ".Dd January 1\n.Dt CARABINER.SERVE 1\n.Os\n.Sh NAME\n.Nm \"carabiner serve\"\n\n.Sh \"SEE ALSO\"\n.Sh AUTHORS\n",
      to: "carabiner.serve.1")
    _ = try folder.write(
      ".Dt CARABINER 1\n.Sh \"SEE ALSO\"\n.Xr carabiner.serve 1 ,\n.Xr carabiner.probe 1 ,\n.Xr carabiner.cache.get 1\n",
      to: "carabiner.1")
    for name in ["carabiner.probe.1", "carabiner.cache.get.1"] { _ = try folder.write("", to: name) }
    let run = try await ToolRun(Repository.root.appending(path: "Scripts/documentation"), ["--manual", folder.path])
    #expect(run.status == 0, "\(run.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["carabiner-cache-get.1", "carabiner-serve.1", "carabiner.1"])
    let serve = try String(contentsOfFile: folder.file("carabiner-serve.1"), encoding: .utf8)
    #expect(serve.contains(".Dt CARABINER-SERVE 1"))
    #expect(
      serve.split(separator: "\n").filter { $0.hasPrefix(".Sh") }
        == [".Sh NAME", ".Sh ENVIRONMENT", ".Sh SIGNALS", ".Sh FILES", ".Sh \"SEE ALSO\""])
    let main = try String(contentsOfFile: folder.file("carabiner.1"), encoding: .utf8)
    #expect(main.contains(".Xr carabiner-serve 1 ,\n.Xr carabiner-cache-get 1\n"))
    #expect(!main.contains("probe"))
  }
}
