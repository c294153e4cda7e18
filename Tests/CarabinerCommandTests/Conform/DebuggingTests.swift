import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// `carabiner conform --debug`: a check in one process, which a debugger can stop in the plugin.
@Suite("Debugging a plugin under test")
struct DebuggingTests {
  private static let debugger = URL(filePath: "/usr/bin/gdb")

  /// Whether there is a debugger that may trace processes.
  private static let canDebug: Bool = {
    let process = ChildProcess()
    process.executableURL = debugger
    process.arguments = ["-nx", "-batch", "-ex", "run", "--args", "/bin/true"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.contains("exited normally")
  }()

  @Test("the check runs in the process of the command, says what is open, and has the report and the status of the check")
  func sameProcess() async throws {
    let folder = try FixturePlugin.Folder()
    let sound = try await BadPlugin.misbehaving(
      "if (getppid() == 1 || getenv(\"CARABINER_TEST_HERE\") == NULL) abort();", into: folder)
    let good = try await CommandRun(["conform", "--debug", "SE01", sound], environment: ["CARABINER_TEST_HERE": "1"])
    #expect(good.status == 0, "\(good.output)\(good.errors)")
    #expect(good.output.contains("1 pass") && good.output.contains("partial run"), "\(good.output)")
    #expect(good.errors.contains("The sandbox leaves open: ") && good.errors.contains("Landlock"), "\(good.errors)")
    // Without a child, the signal ends the command.
    #expect(try await CommandRun(["conform", "--debug", "SE01", sound]).status == -6)
  }

  @Test("a finding of the report is found again, and its exchange is the last")
  func finding() async throws {
    let plugin = try await BadPlugin(Repository.root.appending(path: "Tests/Fixtures/Plugins/bad/ME01.c")).built()
    let full = try await CommandRun(["conform", "--check", "ME01", "--format", "json", plugin])
    let finding = try #require(try JSONValue(parsing: full.output)["plugins"]?[0]?["checks"]?[0]?["findings"]?[0])
    let exchange = try #require(finding["exchange"]?.int)
    let run = try await CommandRun(["conform", "--debug", "ME01:ME01:\(exchange):1", "--format", "json", plugin])
    #expect(run.status == 1, "\(run.output)\(run.errors)")
    let found = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]?["findings"]?.array ?? []
    #expect(found.contains { $0["message"] == finding["message"] && $0["exchange"]?.int == exchange }, "\(found)")
    #expect(found.allSatisfy { $0["exchange"]?.int ?? 0 <= exchange }, "\(found)")
  }

  @Test("a debugger stops at a breakpoint in the plugin", .enabled(if: canDebug))
  func breakpoint() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving("", ["-g"], into: folder)
    let run = try await ToolRun(
      Self.debugger,
      [
        "-nx", "-batch", "-ex", "set breakpoint pending on", "-ex", "break plugin.c:\(BadPlugin.lineOfStatement + 1)", "-ex",
        "run", "-ex",
        "backtrace 1", "--args", Repository.command.path, "conform", "--debug", "SE01", plugin,
      ])
    #expect(
      run.output.contains("create (h=") && run.output.contains("plugin.c:\(BadPlugin.lineOfStatement + 1)"),
      "\(run.output)\(run.errors)")
  }

  @Test(
    "unknown checks, workers and a second plugin are usage errors",
    arguments: [
      (["SE99", "/nowhere.so"], "there is no check SE99"), (["SE01", "--isolation", "worker", "/nowhere.so"], "not in a worker"),
      (["SE01", "/nowhere.so", "/nowhere.so"], "one plugin"), (["SE01", "/nowhere.so"], "cannot be read"),
    ])
  func usage(_ arguments: [String], _ message: String) async throws {
    let run = try await CommandRun(["conform", "--debug"] + arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains(message), "\(run.errors)")
  }
}
