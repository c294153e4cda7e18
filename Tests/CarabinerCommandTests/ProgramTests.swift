import CarabinerHost
import CommandTools
import Foundation
import TestTools
import Testing

/// The version of the command, and where it can run.
@Suite("The command as a program")
struct ProgramTests {
  @Test(
    "without /proc it says so and exits with 2, instead of printing its help", .rule("package.7"),
    arguments: [["--version"], ["check", "-m", "x"]])
  func withoutProc(arguments: [String]) async throws {
    // Root needs no namespace of users.
    let unshare = ["--mount", "--map-root-user"]
    let shell = URL(filePath: "/usr/bin/unshare")
    guard try await ToolRun(shell, unshare + ["mount", "-t", "tmpfs", "none", "/proc"]).status == 0 else {
      print("skipped: this system lets no process mount a folder over /proc")
      return
    }
    let run = try await ToolRun(
      shell, unshare + ["sh", "-c", "mount -t tmpfs none /proc && exec \"$0\" \"$@\"", Repository.command.path] + arguments)
    #expect(run.status == 2 && run.output.isEmpty, "\(run.output)")
    #expect(run.errors.hasPrefix("there is no /proc, "), "\(run.errors)")
  }

  @Test("--version --verbose prints version, commit and Swift version, in either order of the words", .rule("package.8"))
  func version() async throws {
    let short = try await ToolRun(Repository.command, ["--version"])
    #expect(short.status == 0 && short.output == "\(ServerVersion.text)\n")
    for words in [["--version", "--verbose"], ["--verbose", "--version"]] {
      let run = try await ToolRun(Repository.command, words)
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      let lines = run.output.split(separator: "\n")
      #expect(lines.count == 3 && lines.first == "\(ServerVersion.text)", "\(run.output)")
      #expect(lines.last?.contains(/^swift: (unknown|\d+\.\d+(\.\d+)?)$/) == true, "\(run.output)")
      #expect(lines.dropFirst().first?.contains(/^commit: (unknown|[0-9a-f]{7,40}(-changed)?)$/) == true, "\(run.output)")
    }
  }

  @Test("the metrics have the same three values", .rule("package.8"))
  func buildInformation() async throws {
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/")
    let metrics = try await ScrapedMetrics(gateway)
    let details = try await ToolRun(Repository.command, ["--version", "--verbose"]).output.split(separator: "\n")
    let commit = details.dropFirst().first?.dropFirst("commit: ".count) ?? ""
    let swift = details.last?.dropFirst("swift: ".count) ?? ""
    #expect(metrics["carabiner_build_info{commit=\(commit),swift=\(swift),version=\(ServerVersion.text)}"] == 1)
  }
}
