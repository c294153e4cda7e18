import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The stack of a crash, in every format of the report.
@Suite("Crashes under test")
struct CrashTests {
  /// The check of a plugin whose create() runs a statement.
  private func check(
    _ statement: String, _ flags: [String] = ["-g"], in folder: FixturePlugin.Folder, _ arguments: [String] = []
  ) async throws -> JSONValue {
    let plugin = try await BadPlugin.misbehaving(statement, flags, into: folder)
    let run = try await CommandRun(["conform", "--check", "SE01", "--format", "json"] + arguments + [plugin])
    return try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0], "\(run.errors)")
  }

  #if arch(x86_64)
    private static let trap = 4
    /// Other machines do not trap.
    private static let division = [("volatile int zero = 0; zero = 1000 / zero;", 8)]
  #else
    private static let trap = 5
    private static let division: [(String, Int)] = []
  #endif

  @Test(
    "the stack of each fatal signal names the line of the plugin",
    arguments: [
      ("*(volatile int *)0 = 1;", 11), ("abort();", 6), ("__builtin_trap();", trap), ("raise(SIGABRT);", 6),
      ("void (*volatile none)(void) = NULL; none();", 11),
      ("int f = memfd_create(\"f\", 0); volatile char *m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, f, 0); (void)*m;", 7),
    ] + division)
  func signals(_ statement: String, _ signal: Int) async throws {
    let folder = try FixturePlugin.Folder()
    let check = try await check(statement, in: folder)
    #expect(check["status"] == "CRASH")
    #expect(check["detail"]?.string?.hasPrefix("signal \(signal) ") == true, "\(check)")
    let stack = try #require(check["stack"]?.array, "\(check)")
    let last = try #require(stack.last { $0["function"] == "create" }, "\(stack)")
    #expect(last["file"]?.string == folder.file("plugin.c").path, "\(stack)")
    #expect(last["line"]?.int == BadPlugin.lineOfStatement, "\(stack)")
    #expect(last["library"]?.string == folder.file("plugin.so").path, "\(stack)")
    #expect(last["offset"]?.string?.hasPrefix("0x") == true, "\(stack)")
  }

  @Test("a check that does not end has the stack of its thread")
  func timeout() async throws {
    let folder = try FixturePlugin.Folder()
    let check = try await check("for (;;) {}", in: folder, ["--time-scale", "0.05"])
    #expect(check["status"] == "TIMEOUT")
    #expect(check["stack"]?[0]?["line"]?.int == BadPlugin.lineOfStatement, "\(check)")
  }

  @Test("without debug information there are the function and the offset, and without symbols the offset")
  func undebugged() async throws {
    let folder = try FixturePlugin.Folder()
    let named = try #require(try await check("abort();", [], in: folder)["stack"]?.array)
    #expect(named.last?["function"] == "create" && named.last?["file"] == nil && named.last?["line"] == nil, "\(named)")
    let stripped = try #require(try await check("abort();", ["-s"], in: folder)["stack"]?.array)
    #expect(stripped.last?["function"] == nil, "\(stripped)")
    #expect(stripped.last?["offset"]?.string?.hasPrefix("0x") == true, "\(stripped)")
    #expect(stripped.last?["library"]?.string?.hasSuffix("/plugin.so") == true, "\(stripped)")
    // Above them are those of libc.
    #expect(stripped.first?["library"]?.string?.contains("libc.so") == true, "\(stripped)")
  }

  @Test("a process that ends itself without a signal has no stack, and neither has one whose copy crashed")
  func noStack() async throws {
    let folder = try FixturePlugin.Folder()
    #expect(try await check("_exit(7);", in: folder)["stack"] == nil)
    let copied = try await check("extern pid_t wait(int *); if (fork() == 0) abort(); wait(NULL); _exit(7);", in: folder)
    #expect(copied["status"] == "CRASH" && copied["stack"] == nil, "\(copied)")
  }

  @Test("an access to guarded memory, after which the check goes on, names the line of the plugin")
  func touches() async throws {
    let folder = try FixturePlugin.Folder()
    let text = """
      #include <carabiner.h>
      static volatile uint8_t sum;
      static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
        (void)inst, (void)call, (void)state;
        sum = result->json.ptr ? result->json.ptr[result->json.len] : 0;
        return CRB_CONTINUE;
      }
      #define NEEDS CRB_PART_JSON
      #define GRAPHQL_ON_RESULT on_result
      #include "sound.h"
      """
    let plugin = try await BadPlugin.compile(text, ["-g"], into: folder)
    let run = try await CommandRun(["conform", "--check", "ME01", "--format", "json", plugin])
    let check = try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0])
    #expect(check["status"] == "FAIL", "\(check)")
    let frame = try #require(check["findings"]?[0]?["stack"]?[0], "\(check)")
    #expect(frame["function"] == "on_result" && frame["line"]?.int == 5, "\(frame)")
    #expect(frame["file"]?.string == folder.file("plugin.c").path)
    let sarif = try JSONValue(parsing: await CommandRun(["conform", "--check", "ME01", "--format", "sarif", plugin]).output)
    let place = sarif["runs"]?[0]?["results"]?[0]?["locations"]?[0]?["physicalLocation"]
    #expect(
      place?["region"]?["startLine"]?.int == 5 && place?["artifactLocation"]?["uri"]?.string?.hasSuffix("/plugin.c") == true)
  }

  @Test("text, JUnit and SARIF have the line of the source")
  func formats() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving("*(volatile int *)0 = 1;", ["-g"], into: folder)
    let reports = folder.file("reports").path
    let run = try await CommandRun(["conform", "--check", "SE01", "--output", reports, plugin])
    let place = "\(folder.file("plugin.c").path):\(BadPlugin.lineOfStatement)"
    #expect(run.output.contains("        at create at \(place) (plugin.so+0x"), "\(run.output)")
    let junit = try String(contentsOfFile: "\(reports)/junit.xml", encoding: .utf8)
    #expect(junit.firstMatch(of: /message="signal 11 [^"]*at create at [^"]*plugin.c:13/) != nil, "\(junit)")
    let sarif = try JSONValue(parsing: String(contentsOfFile: "\(reports)/report.sarif", encoding: .utf8))
    let result = try #require(sarif["runs"]?[0]?["results"]?[0])
    let physical = result["locations"]?[0]?["physicalLocation"]
    #expect(physical?["artifactLocation"]?["uri"]?.string == "file://\(folder.file("plugin.c").path)", "\(result)")
    #expect(physical?["region"]?["startLine"]?.int == BadPlugin.lineOfStatement)
    let frame = result["stacks"]?[0]?["frames"]?[0]
    #expect(frame?["module"]?.string == plugin && frame?["location"]?["physicalLocation"] == physical, "\(result)")
  }
}
