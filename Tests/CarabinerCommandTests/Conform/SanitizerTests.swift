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
    pthread_create(&t, NULL, add, &sum); usleep(1000); ++sum; pthread_join(t, NULL);
    """

  /// Permissions for the runtime.
  private static func allow(_ sanitizer: String) -> [String] {
    ["--allow", sanitizer == "undefined" ? "libubsan.so.1" : "sanitizer"]
  }

  /// GCC's runtimes do not run well where the kernel places libraries at more random addresses.
  private static let all =
    (try? String(contentsOfFile: "/proc/sys/vm/mmap_rnd_bits", encoding: .utf8)).flatMap { Int($0.prefix(2)) }.map { $0 <= 28 }
      == true
    ? ["address", "thread", "undefined"] : ["undefined"]

  private func checks(_ plugin: String, _ arguments: [String]) async throws -> [JSONValue] {
    let run = try await CommandRun(["conform", "--format", "json"] + arguments + [plugin])
    return try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array, "\(run.errors)")
  }

  @Test(
    "the first report of a sanitizer is a crash with its words, and with the line of the plugin, and comes again",
    arguments: [
      ("address", "char *volatile p = malloc(4); p[4] = 1; free(p);", "AddressSanitizer: heap-buffer-overflow "),
      ("address", "char *volatile p = malloc(4); free(p); p[0] = 1;", "AddressSanitizer: heap-use-after-free "),
      ("thread", race, "ThreadSanitizer: data race "),
      ("undefined", "volatile int big = 0x7fffffff; big = big + 1;", "UndefinedBehaviorSanitizer: signed integer overflow"),
    ].filter { all.contains($0.0) })
  func report(_ sanitizer: String, _ statement: String, _ words: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(statement, ["-g", "-fsanitize=\(sanitizer)"], into: folder)
    let check = try #require(try await checks(plugin, ["--check", "SE01"] + Self.allow(sanitizer)).first)
    #expect(check["status"] == "CRASH", "\(check)")
    #expect(check["detail"]?.string?.hasPrefix(words) == true, "\(check)")
    let frame = try #require(check["stack"]?.array?.first { $0["line"]?.int == BadPlugin.lineOfStatement }, "\(check)")
    #expect(frame["file"]?.string == folder.file("plugin.c").path, "\(frame)")
    let again = try await CommandRun(["conform", "--reproduce", "SE01:SE01:0:1"] + Self.allow(sanitizer) + [plugin])
    #expect(again.status == 1 && again.output.contains(words) && again.output.contains("came again"), "\(again.output)")
  }

  @Test("a sound plugin breaks no rule, and has no level, because some checks prove nothing", arguments: all)
  func sound(_ sanitizer: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(
      ";", ["-g", "-fsanitize=\(sanitizer)", BadPlugin.hardening], into: folder)
    let checks = try await checks(plugin, ["--level", "10", "--effort", "0.1"] + Self.allow(sanitizer))
    let bad = checks.filter { ["FAIL", "CRASH", "TIMEOUT", "UNTESTED", "HARNESS_ERROR"].contains($0["status"]?.string) }
    #expect(bad.isEmpty, "\(bad)")
    let text = try await CommandRun(["conform", "--check", "ME11"] + Self.allow(sanitizer) + [plugin])
    #expect(text.output.contains("build without it for a level") == (sanitizer != "undefined"), "\(text.output)")
    #expect(text.output.contains("memory a sanitizer keeps") == (sanitizer != "undefined"), "\(text.output)")
  }

  @Test("a leak of each call is found", arguments: all)
  func leak(_ sanitizer: String) async throws {
    let folder = try FixturePlugin.Folder()
    let leaking = try #require(BadPlugin.all.first { $0.testDescription == "ME09.c" })
    let source = try String(contentsOf: leaking.source, encoding: .utf8)
    let plugin = try await BadPlugin.compile(source, ["-fsanitize=\(sanitizer)"], into: folder)
    let check = try #require(try await checks(plugin, ["--check", "ME09"] + Self.allow(sanitizer)).first)
    #expect(check["status"] == "FAIL", "\(check)")
  }

  @Test(
    "a runtime that must come first is loaded only if the user allows it, whatever the note says, and other plugins are tested")
  func refused() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.compile(
      """
      #include <carabiner.h>
      #define NOTE "{\\"id\\":\\"org.carabiner.test.bad\\",\\"version\\":\\"1.0.0\\",\\"abi\\":[1,0],\\"capabilities\\":[\\"sanitizer\\"]}"
      #include "sound.h"
      """, ["-fsanitize=address"], into: folder)
    let other = try FixturePlugin.Folder()
    let sound = try await BadPlugin.misbehaving(";", [], into: other)
    let refused = try await CommandRun(["conform", "--check", "LD02", "--format", "json", plugin, sound])
    #expect(refused.status == 3, "\(refused.output)")
    let plugins = try JSONValue(parsing: refused.output)["plugins"]
    let only = plugins?[0]?["checks"]?[0]
    #expect(
      only?["status"] == "HARNESS_ERROR" && only?["detail"]?.string?.contains("--allow sanitizer") == true, "\(refused.output)")
    #expect(plugins?[1]?["checks"]?[0]?["status"] == "PASS", "\(refused.output)")
    let both = try await CommandRun(["conform", "--allow", "sanitizer", plugin, sound])
    #expect(both.status == 2 && both.errors.contains("takes one plugin"), "\(both.errors)")
    let again = try await CommandRun(["conform", "--reproduce", "SE01:SE01:0:1", plugin])
    #expect(again.status == 3 && again.output.contains("--allow sanitizer"), "\(again.output)")
  }

  @Test(
    "no plugin with a sanitizer runs in a worker, where its report would not end the hook", arguments: ["address", "undefined"])
  func crossing(_ sanitizer: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(";", ["-fsanitize=\(sanitizer)"], into: folder)
    let run = try await CommandRun(["conform", "--isolation", "worker"] + Self.allow(sanitizer) + [plugin])
    #expect(run.status == 3 && run.output.contains("does not run in a worker"), "\(run.output)\(run.errors)")
  }

  @Test("a plugin without a sanitizer cannot choose the words of its crash")
  func forged() async throws {
    let folder = try FixturePlugin.Folder()
    let statement = #"fputs("SUMMARY: AddressSanitizer: none\nx.c:1:2: runtime error: none\n", stderr); abort();"#
    let check = try #require(
      try await checks(try await BadPlugin.misbehaving(statement, [], into: folder), ["--check", "SE01"]).first)
    #expect(check["detail"]?.string?.hasPrefix("signal 6 ") == true, "\(check)")
  }
}
