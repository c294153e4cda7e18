import CarabinerManifest
import CommandTools
import Foundation
import TestTools
import Testing

/// `isolation` of a manifest, as `carabiner check` and `carabiner chain` show it.
@Suite("Workers in carabiner check and chain")
struct WorkerManifestTests {
  private static let noop = CommandRun.root.appending(path: "Plugins/noop/build/noop.so").path

  private func manifest(_ entries: String..., lists: String = "{graphql: []}") throws -> TemporaryFile {
    let plugins = entries.map { "  - \($0.replacing("NOOP", with: Self.noop))" }.joined(separator: "\n")
    return try TemporaryFile("carabiner: 1\nplugins:\n\(plugins)\nchain: \(lists)\n")
  }

  @Test(
    "check reports each mistake with file, line, column and remedy",
    .rule("worker-input.25", "worker-input.26", "worker-input.27", "worker-input.28", "worker-input.29", "worker-input.30"))
  func mistakes() async throws {
    let manifest = try manifest(
      "{name: a, file: NOOP, isolation: proces}", "{name: b, file: NOOP, isolation: {mode: worker, workers: 0}}",
      "{name: c, file: NOOP, isolation: {mode: worker, memory: 1MiB}}",
      "{name: d, file: NOOP, isolation: {mode: worker, group: g}}",
      "{name: e, file: NOOP, isolation: {mode: worker, group: g, lanes: 3}}",
      "{name: f, file: NOOP, isolation: {mode: worker, read: [relative, /]}}", "{name: g, ffi: {}, isolation: worker}")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 3)
    let lines = run.errors.split(separator: "\n")
    #expect(
      lines.map { $0.split(separator: ": ").prefix(3).joined(separator: ": ").replacing(/:\d+: error/, with: ": error") } == [
        "\(manifest.path):3: error: /plugins/0/isolation", "\(manifest.path):4: error: /plugins/1/isolation/workers",
        "\(manifest.path):5: error: /plugins/2/isolation/memory", "\(manifest.path):7: error: /plugins/4/isolation/lanes",
        "\(manifest.path):8: error: /plugins/5/isolation/read/0", "\(manifest.path):8: error: /plugins/5/isolation/read/1",
        "\(manifest.path):9: error: /plugins/6/isolation",
      ])
    #expect(run.errors.contains("d and e are in the group g and need the same lanes"), "\(run.errors)")
  }

  @Test("check refuses cpu unless this system can limit processor time", .rule("worker-input.31", "worker.8"))
  func processorTime() async throws {
    let manifest = try manifest("{name: a, file: NOOP, isolation: {mode: worker, cpu: 50%}}", lists: "{graphql: [a]}")
    let run = try await CommandRun(["check", "-m", manifest.path])
    let isDelegated = (try? ControlGroup().check("cpu")) != nil
    #expect((run.status == 0) == isDelegated, "\(run.errors)")
    #expect(
      run.errors.contains(":3:\(49 + Self.noop.count): error: /plugins/0/isolation/cpu: cpu needs") == !isDelegated,
      "\(run.errors)")
  }

  @Test("a host does not start with cpu unless this system can limit processor time", .rule("worker-input.31", "worker.8"))
  func hostStart() async throws {
    guard (try? ControlGroup().check("cpu")) == nil else { return }
    let manifest = try manifest("{name: a, file: NOOP, isolation: {mode: worker, cpu: 50%}}", lists: "{graphql: [a]}")
    let document = try TemporaryFile("query Q { a }", suffix: ".graphql")
    let run = try await CommandRun(["run", "-m", manifest.path, "--endpoint", "http://127.0.0.1:9", document.path])
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("cpu needs a delegated cgroup v2"), "\(run.errors)")
  }

  @Test(
    "check warns about several workers of a plugin that keeps its state between calls", .rule("worker.3"),
    arguments: [("CRB_THREADS_CONCURRENT", 2, true), ("CRB_THREADS_PER_CALL", 2, false), ("CRB_THREADS_CONCURRENT", 1, false)])
  func instances(threads: String, workers: Int, isWarned: Bool) async throws {
    let plugin = try await CompiledFixture("state", defining: ["THREADS=\(threads)"])
    let manifest = try manifest(
      "{name: a, file: \(plugin.path), isolation: {mode: worker, workers: \(workers)}}", lists: "{graphql: [a]}")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.errors.contains(": warning: /plugins/0/isolation/workers: a keeps its state between calls") == isWarned, "\(run.errors)"
    )
  }

  @Test(
    "check refuses a plugin whose create() fails because the worker refused a call, and names the call", .rule("worker-test.44"))
  func refusedCall() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(
      "if (socket(AF_INET, SOCK_STREAM, 0) < 0) return CRB_E_UNSUPPORTED;", into: folder)
    let entry = "{name: a, file: \(plugin), isolation: worker}"
    let manifest = try manifest(entry, lists: "{graphql: [a]}")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 3)
    #expect(run.errors.hasPrefix("\(manifest.path):3:"))
    #expect(
      run.errors.contains(
        ": error: /plugins/0/isolation: the plugin does not come up in a worker: it called socket(), which "
          + "workers may not; grant it fetch, or keep it in-process [isolation]\n"), "\(run.errors)")
    let other = try self.manifest("{name: a, file: \(plugin)}", lists: "{graphql: [a]}")
    #expect(try await CommandRun(["check", "-m", other.path]).status == 0)
  }

  @Test("check warns about imports that a worker refuses, if the plugin runs in one", arguments: [true, false])
  func imports(isIsolated: Bool) async throws {
    let folder = try FixturePlugin.Folder()
    let reach = folder.file("reach.c")
    try Data(
      "#include <sys/socket.h>\n#include <unistd.h>\n__attribute__((used)) static int reach(void) { return socket(1, 1, 0) + fork(); }\n"
        .utf8
    ).write(to: reach)
    let plugin = try await FixturePlugin.compile("state", into: folder, linking: [reach.path])
    let manifest = try manifest("{name: a, file: \(plugin)}", lists: "{graphql: [a]}")
    let run = try await CommandRun(["check", "-m", manifest.path], environment: isIsolated ? ["CARABINER_ISOLATE": "a"] : [:])
    let warning = ": warning: /plugins/0/file: the plugin a imports fork, socket, which workers refuse"
    #expect(run.errors.contains(warning) == isIsolated, "\(run.errors)")
  }

  @Test(
    "check warns about a pattern that matches no plugin, and about entries of one file in two processes",
    .rule("worker.2", "worker.5"))
  func warnings() async throws {
    let manifest = try manifest("{name: hmac, file: NOOP}", "{name: tokens, file: NOOP}", lists: "{graphql: [hmac, tokens]}")
    let run = try await CommandRun(["check", "-m", manifest.path], environment: ["CARABINER_ISOLATE": "hmac,tokns"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.errors.contains(": warning: CARABINER_ISOLATE=tokns fits no plugin with a file (did you mean tokens?)"), "\(run.errors)"
    )
    #expect(run.errors.contains(":4:5: warning: /plugins/1/isolation: hmac and tokens have the same file"), "\(run.errors)")
  }

  @Test("chain marks the stages that run in a worker", .rule("worker.72", "worker.5"), arguments: ["text", "json", "dot"])
  func chain(format: String) async throws {
    let manifest = try manifest(
      "{name: log, file: NOOP}", "{name: hmac, file: NOOP, isolation: {mode: worker, group: signing}}",
      "{name: tokens, file: NOOP}",
      lists: "{graphql: [log], cache: [], http: [hmac, tokens]}")
    let run = try await CommandRun(
      ["chain", "-m", manifest.path, "--format", format], environment: ["CARABINER_ISOLATE": "tok*", "CARABINER_DISABLE": ""])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.isEmpty, "\(run.errors)")
    try GoldenFile("chain-workers.\(format == "text" ? "txt" : format)").expect(run.output)
  }
}
