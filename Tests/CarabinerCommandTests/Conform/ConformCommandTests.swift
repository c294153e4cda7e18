import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The command as plugin authors use it.
@Suite("carabiner conform")
struct ConformCommandTests {
  private func sound() async throws -> String {
    try await BadPlugin(Repository.root.appending(path: "Tests/Fixtures/Plugins/good/all-stages.c")).built()
  }

  private func outcome(_ check: String, of plugin: String, _ more: [String] = []) async throws -> (
    status: String, detail: String, exit: Int32
  ) {
    let run = try await CommandRun(["conform", "--check", check, "--effort", "0.05", "--format", "json", plugin] + more)
    let found = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]
    return (found?["status"]?.string ?? "", found?["detail"]?.string ?? "", run.status)
  }

  @Test(
    "a plugin that ends or blocks its process is reported, and the harness continues",
    arguments: [
      ("*(volatile int *)0 = 1;", "CRASH", "signal 11"), ("abort();", "CRASH", "signal 6"),
      ("exit(0);", "CRASH", "status 0"), ("_exit(0);", "CRASH", "status 0"), ("_exit(7);", "CRASH", "status 7"),
      ("for (;;) {}", "TIMEOUT", "create"), ("raise(SIGSTOP);", "TIMEOUT", "create"),
      ("for (int fd = 3; fd < 100; fd++) close(fd);", "CRASH", "status 0"),
      ("char *p = malloc(100l << 30); if (p) memset(p, 1, 100l << 30);", "PASS", ""),
      ("if (kill(getppid(), SIGKILL) == 0) abort();", "PASS", ""),
    ])
  func misbehaviour(_ statement: String, _ status: String, _ detail: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(statement, into: folder)
    let found = try await outcome("SE01", of: plugin, status == "TIMEOUT" ? ["--time-scale", "0.05"] : [])
    #expect(found.status == status, "\(found)")
    #expect(detail.isEmpty ? found.detail.isEmpty : found.detail.contains(detail), "\(found)")
    #expect(found.exit == (status == "PASS" ? 0 : 1))
  }

  @Test("after three checks that a plugin blocks, the others have less time")
  func blockedChecks() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving("for (;;) pause();", into: folder)
    let run = try await CommandRun([
      "conform", "--check", "SE", "--jobs", "1", "--time-scale", "0.05", "--format", "json", plugin,
    ])
    let checks = try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array)
      .filter { $0["status"] == "TIMEOUT" }
    let times = checks.compactMap { $0["milliseconds"]?.int }
    try #require(times.count > 6 && times.count == checks.count, "\(run.output)")
    // A minute and ten seconds, both times 0.05. Only a machine that pauses for seconds could delay all of the others by so much.
    #expect(times.prefix(3).allSatisfy { $0 >= 3000 }, "\(times)")
    #expect(try #require(times.dropFirst(3).min()) < 3000, "\(times)")
  }

  @Test("a plugin may keep a lock of its own while it starts a timer", arguments: ["TH05", "ER06", "ER07", "ME09"])
  func lockAroundTimer(check: String) async throws {
    let folder = try FixturePlugin.Folder()
    let found = try await outcome(check, of: try await FixturePlugin.compile("pause", into: folder))
    #expect(found.status == "PASS" && found.exit == 0, "\(found)")
  }

  @Test("children that a plugin leaves are reported and killed")
  func leftovers() async throws {
    let folder = try FixturePlugin.Folder()
    let name = "left-\(Int.random(in: 100_000...999_999))"
    let plugin = try await BadPlugin.misbehaving(
      "if (fork() == 0) { setsid(); prctl(PR_SET_NAME, \"\(name)\"); for (;;) pause(); }", into: folder)
    let found = try await outcome("PR01", of: plugin)
    #expect(found.status == "FAIL")
    #expect(try await !Self.isRunning(name))
  }

  @Test(
    "a path that names no file is a usage error, and no other plugin is tested",
    arguments: [("folder", "not a regular file"), ("fifo", "not a regular file"), ("missing", "cannot be read")])
  func noFile(_ kind: String, _ reason: String) async throws {
    let folder = try FixturePlugin.Folder()
    let path = folder.file("plugin.so").path
    switch kind {
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case "fifo": #expect(unsafe mkfifo(path, 0o600) == 0)
    default: break
    }
    for arguments in [["--check", "LD01", "/etc/hostname", path], ["--reproduce", "1:1", path]] {
      let run = try await CommandRun(["conform"] + arguments)
      #expect(run.status == 2)
      #expect(
        run.output.isEmpty && run.errors.contains("error: \(path)") && run.errors.contains(reason), "\(run.output)\(run.errors)")
    }
  }

  @Test(
    "a private folder that another user could replace is a failure of the harness, and a wrong file of an option is one of usage")
  func brokenHarness() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await sound()
    let open = folder.file("open").path
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
    #expect(unsafe chmod(open, 0o777) == 0)
    for arguments in [["--check", "LD01"], ["--reproduce", "1:1"]] {
      let run = try await CommandRun(["conform"] + arguments + [plugin], environment: ["XDG_RUNTIME_DIR": open])
      #expect(run.status == 3, "\(run.output)\(run.errors)")
      #expect(run.errors.contains("no private folder can be made in \(open)"), "\(run.errors)")
    }
    let usage = try await CommandRun(["conform", "--check", "LD01", "--config", folder.file("none.json").path, plugin])
    #expect(usage.status == 2, "\(usage.errors)")
  }

  @Test("a file that is not a plugin is one line and one result in all formats")
  func oneLine() async throws {
    let folder = try FixturePlugin.Folder()
    let text = folder.file("text.so").path
    try Data("hello".utf8).write(to: URL(filePath: text))
    let library = folder.file("library.so").path
    try Data("int number(void) { return 7; }".utf8).write(to: folder.file("library.c"))
    let built = try await ToolRun(
      URL(filePath: "/usr/bin/cc"), ["-shared", "-fPIC", "-o", library, folder.file("library.c").path])
    #expect(built.status == 0, "\(built.errors)")
    for (path, rule, reason) in [(text, "LD01", "not an ELF file"), (library, "LD02", "exports no function crb_entry_v1")] {
      let reports = folder.file("reports").path
      let run = try await CommandRun(["conform", "--output", reports, path])
      #expect(run.status == 1)
      let lines = run.output.split(separator: "\n")
      #expect(lines.count == 1 && lines[0].hasPrefix("\(path): not a plugin: ") && lines[0].contains(reason), "\(run.output)")
      let json = try JSONValue(parsing: String(contentsOfFile: "\(reports)/report.json", encoding: .utf8))["plugins"]?[0]
      #expect(json?["isPlugin"] == false && json?["level"] == 0)
      #expect(json?["checks"]?.array?.map { $0["id"]?.string } == [rule])
      let junit = try String(contentsOfFile: "\(reports)/junit.xml", encoding: .utf8)
      #expect(junit.contains("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\"") && junit.contains(reason), "\(junit)")
      let sarif = try JSONValue(parsing: String(contentsOfFile: "\(reports)/report.sarif", encoding: .utf8))["runs"]?[0]?[
        "results"]
      #expect(sarif?.array?.map { $0["ruleId"]?.string } == [rule])
    }
  }

  @Test("checks that are skipped for the same reason are one line")
  func equalReasons() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = folder.file("plugin.so").path
    // A plugin with a note, whose author forgot to export the entry function.
    try Data(
      "#include <carabiner.h>\n#undef CRB_EXPORT\n#define CRB_EXPORT __attribute__((visibility(\"hidden\"), used))\n#include \"sound.h\"\n"
        .utf8
    )
    .write(to: folder.file("plugin.c"))
    let root = Repository.root.path
    let built = try await ToolRun(
      URL(filePath: "/usr/bin/cc"),
      [
        "-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-I\(root)/Sources/CCarabiner/include",
        "-I\(root)/Tests/Fixtures/Plugins/bad", "-o", plugin, folder.file("plugin.c").path,
      ])
    #expect(built.status == 0, "\(built.errors)")
    let run = try await CommandRun(["conform", "--check", "SY01,SE", plugin])
    #expect(run.status == 1)
    let skipped = run.output.split(separator: "\n").filter { $0.hasPrefix("SKIP") }
    #expect(skipped.count == 1, "\(run.output)")
    #expect(skipped.first?.contains("checks: it does not export crb_entry_v1; see SY01 (SE01, SE02, ") == true, "\(skipped)")
  }

  @Test(
    "a file that is not a plugin is refused, each with its reason",
    arguments: [
      ("text", "not an ELF"), ("empty", "not an ELF"), ("32-bit", "not a 64-bit"), ("another machine", "ELF machine"),
      ("a program", "not a shared object"),
      ("cut short", "the file is cut short"), ("cut very short", "the file is cut short"),
    ])
  func noPlugin(_ kind: String, _ reason: String) async throws {
    let folder = try FixturePlugin.Folder()
    let path = folder.file("plugin.so").path
    switch kind {
    case "text": try Data("hello".utf8).write(to: URL(filePath: path))
    case "empty": try Data().write(to: URL(filePath: path))
    default:
      var bytes = try Data(contentsOf: URL(filePath: try await sound()))
      switch kind {
      case "32-bit": bytes[4] = 1
      // e_machine: RISC-V, which no test runs on.
      case "another machine": bytes[18] = 243
      // e_type
      case "a program": bytes[16] = 2
      case "cut short": bytes.removeLast(bytes.count / 2)
      default: bytes.removeLast(bytes.count - 80)
      }
      try bytes.write(to: URL(filePath: path))
    }
    let run = try await CommandRun(["conform", "--check", "LD01,LD03,SE01", path])
    #expect(run.status == 1)
    #expect((run.output + run.errors).contains(reason), "\(run.output)\(run.errors)")
    #expect(!run.output.contains("CRASH"), "\(run.output)")
  }

  @Test("without an instance there is no verdict, and --file admits the files of a configuration")
  func requiredFile() async throws {
    let folder = try FixturePlugin.Folder()
    let key = folder.file("key.txt").path
    let config = folder.file("config.json").path
    try Data("key".utf8).write(to: URL(filePath: key))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    try Data("{}".utf8).write(to: URL(filePath: config))
    let plugin = try await BadPlugin.compile(
      """
      #include <carabiner.h>
      #include <fcntl.h>
      #include <unistd.h>
      static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
        (void)h, (void)info;
        int file = open("\(key)", O_RDONLY | O_CLOEXEC);
        why->message = (crb_view){(const uint8_t *)"no key", 6};
        if (file < 0) return CRB_E_INVAL;
        close(file);
        *inst = NULL;
        return CRB_OK;
      }
      #define CREATE create
      #define DESTROY NULL
      #include "sound.h"
      """, into: folder)
    let refused = try await CommandRun(["conform", "--check", "SE01,SE04,LD01", plugin])
    #expect(refused.status == 1)
    #expect(refused.output.contains("no verdict: it cannot be created with {}") && refused.output.contains("no key"))
    #expect(refused.output.contains("1 pass, 2 untested") && !refused.output.contains("conforms"), "\(refused.output)")
    let admitted = try await CommandRun(["conform", "--check", "SE01,SE04,LD01", "--config", config, "--file", key, plugin])
    #expect(admitted.status == 0)
    #expect(admitted.output.contains("3 pass") && admitted.output.contains("partial run"), "\(admitted.output)")
  }

  @Test("an unknown check is a usage error with the nearest name")
  func unknownCheck() async throws {
    let run = try await CommandRun(["conform", "--check", "LD99", "/nowhere.so"])
    #expect(run.status == 2)
    #expect(run.errors.contains("there is no check LD99"))
    #expect(try await CommandRun(["conform", "--explain", "nonsense"]).status == 2)
    #expect(try await CommandRun(["conform"]).status == 2)
  }

  @Test(
    "the report names the system call of a hook, even if the call is refused",
    arguments: [("getppid() > 0", "getppid"), ("socket(AF_UNIX, SOCK_STREAM, 0) < 0", "socket")])
  func namedSystemCall(_ expression: String, _ name: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.compile(
      """
      #include <carabiner.h>
      #include <sys/socket.h>
      #include <unistd.h>
      static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
        (void)inst, (void)call, (void)state, (void)result;
        return \(expression) ? CRB_CONTINUE : CRB_E_INTERNAL;
      }
      #define GRAPHQL_ON_RESULT on_result
      #include "sound.h"
      """, into: folder)
    let run = try await CommandRun(["conform", "--check", "PF02", "--effort", "0.05", "--format", "json", plugin])
    let check = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]
    // Other architectures do not report it.
    guard check?["status"] != "SKIP" else { return }
    let messages = (check?["findings"]?.array ?? []).compactMap { $0["message"]?.string }
    #expect(messages == ["on_result makes system calls; the first is \(name)"], "\(check ?? .null)")
  }

  @Test(
    "a harness that is process 1, as in a container, tests plugins as any other", .enabled(if: Self.canBeFirst))
  func firstProcess() async throws {
    let plugin = try await sound()
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/unshare"),
      ["--pid", "--fork", "--mount-proc", Repository.command.path, "conform", "--check", "LD01,SE01", plugin])
    #expect(run.status == 0, "\(run.output)\(run.errors)")
  }

  /// Whether a process can be started as number 1. This needs root, and some containers forbid it even to root.
  private static let canBeFirst: Bool = {
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = ["--pid", "--fork", "--mount-proc", "true"]
    process.standardError = FileHandle.nullDevice
    guard geteuid() == 0, (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  @Test("a plugin may have libraries in folders it names, and read nothing else there")
  func namedLibraries() async throws {
    let folder = try FixturePlugin.Folder()
    let own = folder.file("libown.so").path
    try Data("int own_number(void) { return 7; }".utf8).write(to: folder.file("own.c"))
    try Data("secret".utf8).write(to: folder.file("other.txt"))
    let plugin = folder.file("plugin.so").path
    try Data(
      """
      #include <carabiner.h>
      #include <fcntl.h>
      int own_number(void);
      static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
        (void)h, (void)info, (void)why;
        *inst = NULL;
        return own_number() == 7 && open("\(folder.file("other.txt").path)", O_RDONLY) < 0 ? CRB_OK : CRB_E_INTERNAL;
      }
      #define CREATE create
      #define DESTROY NULL
      #include "sound.h"
      """.utf8
    ).write(to: folder.file("plugin.c"))
    let root = Repository.root.path
    for words in [
      ["-shared", "-fPIC", "-Wl,-soname,libown.so", "-o", own, folder.file("own.c").path],
      [
        "-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-I\(root)/Sources/CCarabiner/include",
        "-I\(root)/Tests/Fixtures/Plugins/bad", "-o", plugin, folder.file("plugin.c").path, own, "-Wl,-rpath,\(folder.url.path)",
      ],
    ] {
      let run = try await ToolRun(URL(filePath: "/usr/bin/cc"), words)
      #expect(run.status == 0, "\(run.errors)")
    }
    let found = try await outcome("SE01", of: plugin)
    #expect(found.status == "PASS", "\(found)")
  }

  @Test("the help of --allow names its values")
  func help() async throws {
    let run = try await CommandRun(["conform", "--help"])
    #expect(run.status == 0)
    for word in ["--allow", "abort", "varies", "--confine"] { #expect(run.output.contains(word), "\(word) in \(run.output)") }
  }

  @Test("each check explains its rule, its reason and its remedy")
  func pages() async throws {
    let run = try await CommandRun(["conform", "--explain", "me01"])
    #expect(run.status == 0)
    for heading in ["ME01", "RULE", "WHY", "EXAMPLE OF A BREACH", "REMEDY", "--isolation worker"] {
      #expect(run.output.contains(heading))
    }
  }

  @Test("a folder of reports has every format, and one that cannot be written is refused before the work")
  func output() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await sound()
    let reports = folder.file("reports").path
    let run = try await CommandRun(["conform", "--check", "LD01", "--check", "SE01", "--output", reports, plugin])
    #expect(run.status == 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: reports).sorted() == [
        "junit.xml", "report.json", "report.sarif", "report.txt",
      ])
    let sarif = try JSONValue(parsing: String(contentsOfFile: "\(reports)/report.sarif", encoding: .utf8))
    #expect(sarif["runs"]?[0]?["tool"]?["driver"]?["rules"]?.array?.isEmpty == false)
    let junit = try String(contentsOfFile: "\(reports)/junit.xml", encoding: .utf8)
    #expect(junit.hasPrefix("<?xml") && junit.contains("tests=\"2\" failures=\"0\""))
    let refused = try await CommandRun(["conform", "--check", "LD01", "--output", "/proc/nowhere", plugin])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("--output"))
  }

  @Test("Ctrl-C ends the children, and the completed checks are reported")
  func interrupted() async throws {
    let folder = try FixturePlugin.Folder()
    let name = "kept-\(Int.random(in: 100_000...999_999))"
    let plugin = try await BadPlugin.misbehaving("prctl(PR_SET_NAME, \"\(name)\"); for (;;) pause();", into: folder)
    let run = try await CommandRun(
      ["conform", "--check", "SE01", "--format", "json", plugin],
      meanwhile: { process in
        Thread.detachNewThread {
          for _ in 0..<600 {
            if Self.hasChildren(process) { break }
            Thread.sleep(forTimeInterval: 0.1)
          }
          Thread.sleep(forTimeInterval: 0.5)
          kill(process, SIGINT)
        }
      })
    #expect(run.status == 1)
    #expect(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]?["status"]?.string == "SKIP")
    #expect(try await !Self.isRunning(name))
  }

  /// Whether any thread of a process has started a child.
  private static func hasChildren(_ process: Int32) -> Bool {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    return tasks.contains { task in
      (try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8))?.isEmpty == false
    }
  }

  /// Whether a running process has this name. A killed process takes a moment to end.
  private static func isRunning(_ name: String) async throws -> Bool {
    for _ in 0..<300 {
      let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      let isThere = processes.contains { process in
        // The name in parentheses, then the state. Z is a zombie.
        let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return stat.map { $0.contains("(\(name))") && !$0.contains("(\(name)) Z") } ?? false
      }
      if !isThere { return false }
      try await Task.sleep(for: .milliseconds(100))
    }
    return true
  }
}
