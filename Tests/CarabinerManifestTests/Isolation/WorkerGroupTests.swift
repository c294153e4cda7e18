import CarabinerManifest
import CarabinerWire
import TestTools
import Testing

@Suite("Groups of entries that share a worker")
struct WorkerGroupTests {
  private func text(_ first: String, _ second: String) -> String {
    """
    carabiner: 1
    plugins:
      - name: hmac
        file: present.plugin
        isolation: \(first)
      - name: tokens
        file: secret.txt
        isolation: \(second)
    chain: {http: [hmac, tokens]}
    """
  }

  @Test(
    "entries of a group may be written in different ways", .rule("worker.2"),
    arguments: [
      ("worker", "{mode: worker, group: hmac}"),
      ("{mode: worker, group: signing, memory: 1GiB}", "{mode: worker, group: signing, memory: 1024MiB, workers: 1}"),
      ("{mode: worker, memory: 64MiB}", "{mode: worker, memory: 32MiB}"), ("worker", "in-process"),
    ])
  func agree(first: String, second: String) {
    #expect(ManifestFixtures.problems(text(first, second)).isEmpty)
  }

  @Test(
    "entries of a group that disagree are named, with the key and both values", .rule("worker-input.28", "worker.2"),
    arguments: [
      ("{mode: worker, group: g, memory: 64MiB}", "{mode: worker, group: g}", "memory", "64MiB", "256MiB", "8:5"),
      ("{mode: worker, group: g}", "{mode: worker, group: g, workers: 2}", "workers", "1", "2", "8:41"),
      ("{mode: worker, group: g}", "{mode: worker, group: g, lanes: 2}", "lanes", "none", "2", "8:41"),
      ("{mode: worker, group: g}", "{mode: worker, group: g, cpu: 50%}", "cpu", "none", "50%", "8:41"),
      ("{mode: worker, group: g}", "{mode: worker, group: g, arena: 1MiB}", "arena", "64MiB", "1MiB", "8:41"),
      ("{mode: worker, group: g}", "{mode: worker, group: g, hang: 2s}", "hang", "1s", "2s", "8:41"),
      ("{mode: worker, group: g}", "{mode: worker, group: g, read: [/etc]}", "read", "[]", "[/etc]", "8:41"),
      ("{mode: worker, group: g}", "{mode: worker, group: g, environment: [TZ]}", "environment", "[]", "[TZ]", "8:41"),
      (
        "{mode: worker, group: g}", "{mode: worker, group: g, restart: {after: 3}}", "restart",
        "{backoff: 100ms, maximum: 30s, after: 5, within: 1m}", "{backoff: 100ms, maximum: 30s, after: 3, within: 1m}", "8:41"
      ),
      ("{mode: worker, group: g}", "{mode: worker, group: g, confine: available}", "confine", "strict", "available", "8:41"),
    ])
  func disagree(first: String, second: String, key: String, old: String, new: String, place: String) throws {
    let problems = ManifestFixtures.problems(text(first, second))
    #expect(problems.count == 1, "\(problems)")
    let problem = try #require(problems.first)
    #expect(problem.code == .isolation)
    #expect(problem.pointer.description == "/plugins/1/isolation/\(key)")
    #expect(problem.position.map { "\($0.line):\($0.column)" } == place)
    #expect(
      problem.message
        == "hmac and tokens are in the group g and need the same \(key): hmac has \(old), tokens has \(new); write the same in both, "
        + "or give one of them another group")
  }

  @Test(
    "entries of one file that do not share a process are a warning", .rule("worker.2"),
    arguments: [
      ("worker", "worker", "hmac runs in the worker hmac, tokens in the worker tokens"),
      ("worker", "in-process", "hmac runs in the worker hmac, tokens in the process of the host"),
      ("in-process", "{mode: worker, group: g}", "hmac runs in the process of the host, tokens in the worker g"),
      ("worker", "{mode: worker, group: hmac}", nil), ("in-process", "in-process", nil),
    ])
  func sameFile(first: String, second: String, fragment: String?) throws {
    let manifest = try ManifestFixtures.manifest(text(first, second).replacing("secret.txt", with: "present.plugin"))
    let warnings = manifest.placed(manifest.separatedFiles(IsolationOverrides()))
    #expect(warnings.count == (fragment == nil ? 0 : 1), "\(warnings)")
    guard let fragment, let warning = warnings.first else { return }
    #expect(warning.message.contains(fragment), "\(warning.message)")
    #expect(warning.message.contains("share no memory"))
    #expect(warning.position.map { "\($0.line):\($0.column)" } == "8:5")
  }

  @Test(
    "several workers of a plugin that keeps its state between calls are a warning", .rule("worker.3"),
    arguments: [(2, false, true), (2, true, false), (1, false, false)])
  func instances(workers: Int, isPerCall: Bool, isWarned: Bool) throws {
    let manifest = try ManifestFixtures.manifest(text("{mode: worker, workers: \(workers)}", "worker"))
    let plugin = try #require(manifest.plugins.first)
    let warning = manifest.warning(about: plugin, IsolationOverrides(), isPerCall: isPerCall)
    #expect((warning != nil) == isWarned)
    guard let warning else { return }
    #expect(warning.pointer.description == "/plugins/0/isolation/workers")
    #expect(warning.message.contains("caches and limits count per process; write workers: 1"), "\(warning.message)")
  }
}
