import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A plugin under test reaches nothing outside its process, for every user that starts the harness.
@Suite("Escapes from the harness")
struct EscapeTests {
  @Test(
    "no attempt succeeds, in a constructor, in create() or in a thread", .rule("worker.63", "worker-test.47"),
    arguments: EscapeFixture.all)
  func confined(_ fixture: EscapeFixture) async throws {
    let folder = try FixturePlugin.Folder()
    let outside = try EscapeFixture.outside()
    let plugin = try await fixture.plugin(outside: outside, into: folder)
    let before = try FileManager.default.subpathsOfDirectory(atPath: outside.url.path).sorted()
    let scratch = try FixturePlugin.Folder()
    try EscapeFixture.share(scratch.url)
    for user in await TestUser.available(in: scratch) {
      let run = try await user.run(
        Repository.command.path,
        CommandRun.patientConform + ["--check", "SE01", "--effort", "0.05", "--format", "json", plugin], in: scratch)
      let check = try? JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]
      let output = check?["output"]?.string ?? ""
      // Without a user namespace, the kernel counts the threads of all processes of the user, so there is no thread limit.
      let hasNamespaces = try await user.run("/usr/bin/unshare", ["--user", "true"], in: scratch).status == 0
      let tolerated: Set<String> = hasNamespaces ? [] : ["179 more threads"]
      let succeeded = output.split(separator: "\n").filter { $0.hasPrefix("succeeded in ") }
      let escapes = succeeded.filter { line in !tolerated.contains { line.hasSuffix($0) } }
      #expect(escapes.isEmpty, "as \(user): \(output)")
      #expect(check?["status"] == "PASS", "as \(user): \(check ?? .null) \(run.errors)")
      for place in ["constructor", "create", "thread"] {
        let count = EscapeCount(output, in: place)
        #expect(count != nil, "as \(user), in \(place): \(output)")
        #expect(count?.tried ?? 0 > 20)
      }
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: outside.url.path).sorted() == before)
  }

  @Test("the attempts are real: without confinement most of them succeed")
  func unconfined() async throws {
    let scratch = try FixturePlugin.Folder()
    try EscapeFixture.share(scratch.url)
    for user in await TestUser.available(in: scratch) {
      var (succeeded, tried) = (0, 0)
      for fixture in EscapeFixture.all {
        let folder = try FixturePlugin.Folder()
        try EscapeFixture.open(folder.url)
        let outside = try EscapeFixture.outside()
        let program = try await fixture.program(outside: outside, into: folder)
        let run = try await user.run(program, [], in: folder)
        let count = try #require(EscapeCount(run.errors, in: "program"), "\(run.errors)")
        succeeded += count.succeeded
        tried += count.tried
      }
      #expect(tried >= 110)
      #expect(succeeded * 2 > tried, "as \(user), \(succeeded) of \(tried)")
    }
  }

  @Test("a refused system call is named in the output of the plugin")
  func refusedCalls() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.compile(
      Self.asking(for: "socket(AF_UNIX, SOCK_STREAM, 0) < 0 && socket(AF_INET, SOCK_STREAM, 0) < 0"), into: folder)
    let run = try await CommandRun(["conform", "--check", "SE01", "--format", "json", plugin])
    let check = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]
    #expect(check?["status"] == "PASS", "\(check ?? .null)")
    #expect(check?["output"]?.string?.contains(/refused system calls: socket \(\d+ times\)/) == true, "\(check ?? .null)")
  }

  @Test(
    "a higher priority is refused with the error of the kernel, and not reported as a fault", arguments: [-1, -2, -20])
  func higherPriority(_ nice: Int) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.compile(
      Self.asking(for: "setpriority(PRIO_PROCESS, 0, \(nice)) == -1 && errno == EACCES"), into: folder)
    let run = try await CommandRun(["conform", "--check", "SE01", "--format", "json", plugin])
    let check = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]
    #expect(check?["status"] == "PASS", "\(check ?? .null)")
    #expect(check?["output"]?.string?.contains("refused system calls") != true, "\(check ?? .null)")
  }

  /// A plugin whose creation succeeds if a C expression is true.
  private static func asking(for expression: String) -> String {
    """
    #include <carabiner.h>
    #include <errno.h>
    #include <signal.h>
    #include <sys/resource.h>
    #include <sys/socket.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    /* The functions of libc keep SIGSYS out of the mask. */
    static int blocks_signals(void) {
      unsigned long all = ~0ul;
      return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all) == 0;
    }
    static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
      (void)h, (void)info, (void)why, (void)blocks_signals;
      *inst = NULL;
      return \(expression) ? CRB_OK : CRB_E_INTERNAL;
    }
    #define CREATE create
    #define DESTROY NULL
    #include "sound.h"
    """
  }

  @Test("a plugin that blocks all signals and makes a forbidden system call is ended, with the reason")
  func blockedSignals() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.compile(
      Self.asking(for: "blocks_signals() && socket(AF_UNIX, SOCK_STREAM, 0) < 0"), into: folder)
    let run = try await CommandRun(["conform", "--check", "SE01", "--format", "json", plugin])
    let check = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0]
    #expect(check?["status"] == "CRASH")
    #expect(check?["detail"]?.string?.contains("a system call that plugins may not make") == true, "\(check ?? .null)")
  }
}
