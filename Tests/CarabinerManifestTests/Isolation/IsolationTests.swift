import CarabinerManifest
import CarabinerWire
import TestTools
import Testing

@Suite("The process of a plugin in a manifest")
struct IsolationTests {
  /// The isolation of the only plugin of a manifest.
  private func isolation(_ value: String?) throws -> Isolation {
    let key = value.map { ", isolation: \($0)" } ?? ""
    let manifest = try ManifestFixtures.manifest(
      "{carabiner: 1, plugins: [{name: hmac, file: present.plugin\(key)}], chain: {http: [hmac]}}")
    #expect(manifest.warnings.isEmpty)
    return try #require(manifest.plugins.first).isolation
  }

  @Test("a plugin runs in the process of the host unless its entry says otherwise", .rule("worker.1"))
  func modes() throws {
    #expect(try isolation(nil) == .inProcess)
    #expect(try isolation("in-process") == .inProcess)
    #expect(try isolation("{mode: in-process}") == .inProcess)
    #expect(try isolation("worker") == .worker(WorkerSettings(group: "hmac")))
    #expect(try isolation("{mode: worker}") == isolation("worker"))
  }

  @Test("the short form has the defaults", .rule("worker.1"))
  func defaults() throws {
    let settings = try #require(try isolation("worker").worker)
    #expect(settings.group == "hmac")
    #expect(settings.workers == 1)
    #expect(settings.lanes == nil)
    #expect([1, 2, 4, 64].map(settings.laneCount) == [1, 2, 4, 4])
    #expect(settings.memoryBytes == 256 << 20)
    #expect(settings.processorPercentage == nil)
    #expect(settings.arenaBytes == 64 << 20)
    #expect(settings.hang == .seconds(1))
    #expect(settings.readablePaths.isEmpty && settings.environment.isEmpty)
    #expect(settings.restarts.backoff == .milliseconds(100) && settings.restarts.maximum == .seconds(30))
    #expect(settings.restarts.after == 5 && settings.restarts.within == .seconds(60))
    #expect(settings.confinement == .strict)
  }

  @Test("the long form sets every key", .rule("worker.1", "worker.7"))
  func everything() throws {
    let settings = try #require(
      try isolation(
        """
        {mode: worker, group: signing, workers: 2, lanes: 6, memory: 128MiB, cpu: 150%, arena: 4GiB, hang: 250ms,
         read: [/usr//lib/, /etc], environment: [TZ, HOME], confine: available,
         restart: {backoff: 1s, maximum: 2s, after: 3, within: 5m}}
        """
      ).worker)
    var expected = WorkerSettings(group: "signing")
    expected.workers = 2
    expected.lanes = 6
    expected.memoryBytes = 128 << 20
    expected.processorPercentage = 150
    expected.arenaBytes = 4 << 30
    expected.hang = .milliseconds(250)
    expected.readablePaths = ["/etc", "/usr/lib"]
    expected.environment = ["HOME", "TZ"]
    expected.confinement = .available
    expected.restarts.backoff = .seconds(1)
    expected.restarts.maximum = .seconds(2)
    expected.restarts.after = 3
    expected.restarts.within = .seconds(300)
    #expect(settings == expected)
    #expect(settings.laneCount(processors: 2) == 6)
  }

  @Test("an arena has whole blocks of 16 KiB", .rule("worker.19"))
  func arena() throws {
    #expect(try isolation("{mode: worker, arena: 1048577}").worker?.arenaBytes == (1 << 20) + (16 << 10))
  }

  @Test("a reload sees a change, and not another order", .rule("worker.1"))
  func equality() throws {
    #expect(try isolation("{mode: worker, read: [/etc, /usr]}") == isolation("{mode: worker, read: [/usr/, /etc]}"))
    #expect(try isolation("{mode: worker, environment: [A, B]}") == isolation("{mode: worker, environment: [B, A]}"))
    #expect(try isolation("{mode: worker, hang: 2s}") != isolation("worker"))
    #expect(try isolation("worker") != isolation("in-process"))
  }

  @Test(
    "the user of workers is a name or two numbers", .rule("worker.11"),
    arguments: [(nil, "nobody"), ("worker-user: daemon", "daemon"), ("worker-user: '1000:65534'", "1000:65534")])
  func users(setting: String?, user: String) throws {
    let manifest = try Manifest(text: "carabiner: 1\nsettings: {\(setting ?? "")}")
    #expect(manifest.settings.workerUser.description == user)
    #expect(manifest.settings.workerUser.ids != nil)
  }

  private struct BadManifest: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let entry: String
    let place: String
    let remedy: String

    static let all = [
      BadManifest(
        testDescription: "an unknown mode", entry: "file: present.plugin\n    isolation: proces", place: "5:5",
        remedy: "write in-process or worker"),
      BadManifest(
        testDescription: "no workers", entry: "file: present.plugin\n    isolation:\n      mode: worker\n      workers: 0",
        place: "7:7",
        remedy: "0 is not a whole number from 1 to 16; write one"),
      BadManifest(
        testDescription: "too little memory", entry: "file: present.plugin\n    isolation: {mode: worker, memory: 1MiB}",
        place: "5:31",
        remedy: "1MiB is too small; write a size from 16MiB"),
      BadManifest(
        testDescription: "a relative path", entry: "file: present.plugin\n    isolation: {mode: worker, read: [relative]}",
        place: "5:38",
        remedy: "write an absolute one, as in /etc/ssl/certs"),
      BadManifest(
        testDescription: "isolation beside ffi", entry: "ffi: {}\n    isolation: worker", place: "5:5",
        remedy: "beside ffi; remove it"),
    ]
  }

  @Test(
    "each mistake has its line and column, and what to write",
    .rule("worker-input.25", "worker-input.26", "worker-input.27", "worker-input.29", "worker-input.30"),
    arguments: BadManifest.all)
  private func places(bad: BadManifest) throws {
    let problems = ManifestFixtures.problems("carabiner: 1\nplugins:\n  - name: a\n    \(bad.entry)\n")
    #expect(problems.count == 1, "\(problems)")
    let problem = try #require(problems.first)
    #expect(problem.position.map { "\($0.line):\($0.column)" } == bad.place)
    #expect(problem.message.contains(bad.remedy), "\(problem.message)")
  }

  @Test("the schema refuses isolation beside ffi, and accepts it beside file", .rule("worker-input.30", "worker.4"))
  func schema() throws {
    let schema = try CompiledSchema(JSONValue(parsing: Manifest.schema))
    func isValid(_ source: String, _ isolation: String) throws -> Bool {
      let text = "{carabiner: 1, plugins: [{name: a, \(source), isolation: \(isolation)}]}"
      return schema.violations(in: try ManifestFixtures.value(text)).isEmpty
    }
    let call = "ffi: {library: libz.so.1, function: crc32, returns: u64, header: X-CRC, arguments: []}"
    #expect(try isValid("file: a.so", "worker"))
    #expect(try isValid("file: a.so", "{mode: worker, memory: 16MiB, cpu: 1600%, read: [/etc/ssl.d/..a], environment: [LDX]}"))
    for isolation in ["worker", "in-process", "{mode: worker}"] { #expect(try !isValid(call, isolation)) }
  }
}
