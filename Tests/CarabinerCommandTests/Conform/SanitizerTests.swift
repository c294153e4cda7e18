import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Plugins that their authors built with a sanitizer.
@Suite("Plugins with a sanitizer under test")
struct SanitizerTests {
  private static let race = """
    extern int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); extern int pthread_join(pthread_t, void **); \
    static int sum; void *add(void *of) { ++*(int *)of; return of; } pthread_t t; \
    pthread_create(&t, NULL, add, &sum); ++sum; pthread_join(t, NULL);
    """

  @Test(
    "the first report of a sanitizer is a crash with its words, and with the line of the plugin",
    arguments: [
      ("address", "char *volatile p = malloc(4); p[4] = 1; free(p);", "AddressSanitizer: heap-buffer-overflow "),
      ("address", "char *volatile p = malloc(4); free(p); p[0] = 1;", "AddressSanitizer: heap-use-after-free "),
      ("thread", race, "ThreadSanitizer: data race "),
      ("undefined", "volatile int big = 0x7fffffff; big = big + 1;", "UndefinedBehaviorSanitizer: signed integer overflow"),
    ])
  func report(_ sanitizer: String, _ statement: String, _ words: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(statement, ["-g", "-fsanitize=\(sanitizer)"], into: folder)
    let run = try await CommandRun(["conform", "--check", "SE01", "--format", "json", "--allow", "sanitizer", plugin])
    #expect(run.status == 1, "\(run.errors)")
    let check = try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0], "\(run.errors)")
    #expect(check["status"] == "CRASH", "\(check)")
    #expect(check["detail"]?.string?.hasPrefix(words) == true, "\(check)")
    let frame = try #require(check["stack"]?.array?.first { $0["line"]?.int == BadPlugin.lineOfStatement }, "\(check)")
    #expect(frame["file"]?.string == folder.file("plugin.c").path, "\(frame)")
  }

  @Test("a sound plugin passes all checks but those that a sanitizer disturbs", arguments: ["address", "thread", "undefined"])
  func sound(_ sanitizer: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(
      ";", ["-g", "-fsanitize=\(sanitizer)", BadPlugin.hardening], into: folder)
    let run = try await CommandRun(
      ["conform", "--level", "10", "--effort", "0.1", "--format", "json", "--allow", "sanitizer", plugin])
    let checks = try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array, "\(run.errors)")
    let bad = checks.filter { !["PASS", "SKIP"].contains($0["status"]?.string) }
    #expect(bad.isEmpty, "\(bad)")
    let leaks = checks.first { $0["id"] == "ME11" }
    #expect((leaks?["detail"]?.string?.contains("sanitizer") == true) == (sanitizer != "undefined"), "\(run.output)")
  }

  @Test("a runtime that must come first is loaded only if the user allows it, whatever the note says, and not in a worker")
  func refused() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.compile(
      """
      #include <carabiner.h>
      #define NOTE "{\\"id\\":\\"org.carabiner.test.bad\\",\\"version\\":\\"1.0.0\\",\\"abi\\":[1,0],\\"capabilities\\":[\\"sanitizer\\"]}"
      #include "sound.h"
      """, ["-fsanitize=address"], into: folder)
    let refused = try await CommandRun(["conform", plugin])
    #expect(refused.status == 2, "\(refused.output)")
    #expect(refused.errors.contains("built with AddressSanitizer") && refused.errors.contains("--allow sanitizer"))
    let crossed = try await CommandRun(["conform", "--allow", "sanitizer", "--isolation", "worker", plugin])
    #expect(crossed.status == 2 && crossed.errors.contains("leave out --isolation worker"), "\(crossed.errors)")
  }
}
