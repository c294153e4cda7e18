import CommandTools
import Foundation
import TestTools
import Testing

/// Manifest entries without an effect, and missing entries that something else needs.
@Suite("carabiner check: warnings")
struct CheckWarningTests {
  @Test("a service that a plugin uses without a grant is a warning", arguments: [false, true])
  func grants(isGranted: Bool) async throws {
    let plugin = try await CompiledFixture("store")
    let grants = isGranted ? ", grants: [store]" : ""
    let manifest = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: keeper, file: \(plugin.path), config: {mode: none}\(grants)}], chain: {graphql: [keeper]}}"
    )
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.errors.contains("[missingGrant]") == !isGranted, "\(run.errors)")
    #expect(
      run.errors.contains("the plugin keeper asks for the service store, which it is not granted; add grants: [store]")
        == !isGranted, "\(run.errors)")
    #expect(run.errors.contains(": warning: ") == !isGranted, "\(run.errors)")
  }

  @Test("a kit asks for no service that its plugin does not use: C++, Rust and Swift")
  func kits() async throws {
    func file(_ name: String) -> String { CommandRun.root.appending(path: "Plugins/\(name)/build/\(name).so").path }
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      plugins:
        - {name: ttl-cache, file: \(file("ttl-cache"))}
        - {name: complexity-guard, file: \(file("complexity-guard"))}
        - {name: response-mask, file: \(file("response-mask")), config: {rules: [{path: email, action: remove}]}}
      chain: {graphql: [response-mask, complexity-guard], cache: [ttl-cache]}

      """)
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 0 && !run.errors.contains("[missingGrant]"), "\(run.errors)")
  }

  @Test("a plugin whose file cannot be replaced often while the gateway runs is a warning with the remedy")
  func reloads() async throws {
    let folder = try FixturePlugin.Folder()
    let extra = folder.file("extra.c")
    try Data(
      """
      static __thread char area[64] __attribute__((tls_model("initial-exec")));
      __attribute__((used)) static char touch(void) { return area[3]++; }
      __asm__(".data\\n.globl shared\\n.type shared, @gnu_unique_object\\n.size shared, 4\\nshared: .long 0\\n.text");
      """.utf8
    ).write(to: extra)
    let path = try await FixturePlugin.compile("state", into: folder, linking: [extra.path])
    let manifest = try TemporaryFile(
      "carabiner: 1\nplugins: [{name: p, file: \(path)}]\nchain: {graphql: [p]}\n")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.errors.contains("/plugins/0/file: the plugin p has thread-local storage of the static model"), "\(run.errors)")
    #expect(run.errors.contains("such as shared, which it shares with other plugins"), "\(run.errors)")
    #expect(
      run.errors.split(separator: "\n").count { $0.contains(" warning: ") && $0.contains("[reload]") } == 2, "\(run.errors)")
  }

  @Test(
    "max-retry without a stage that retries is a warning",
    arguments: [
      ("built-ins: {max-retry: {maximum-retries: 5}}", true),
      ("built-ins: {max-retry: {maximum-retries: 5}, persisted-queries: {enabled: true}}", false),
      (
        "built-ins: {max-retry: {maximum-retries: 5}}\nplugins: [{name: noop, file: NOOP}]\nchain: {graphql: [noop, max-retry]}",
        false
      ),
      ("chain: {graphql: [max-retry]}", false),
    ])
  func retries(text: String, isWarned: Bool) async throws {
    let noop = CommandRun.root.appending(path: "Plugins/noop/build/noop.so").path
    let manifest = try TemporaryFile("carabiner: 1\n" + text.replacing("NOOP", with: noop) + "\n")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("it limits and delays retries that stages ask for") == isWarned, "\(run.errors)")
  }
}
