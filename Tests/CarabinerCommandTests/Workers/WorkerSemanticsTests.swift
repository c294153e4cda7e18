import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWorkers
import CommandTools
import Foundation
import TestTools
import Testing

/// Hooks in workers have the effects that they have in the process of the host.
@Suite("Hooks in workers")
struct WorkerSemanticsTests {
  private typealias Entry = TrialChain.Entry

  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  @Test(
    "an illegal verdict is a plugin fault, and the worker lives", .rule("worker-test.7"),
    arguments: [("unknown-verdict", "99"), ("recover-in-request", "RECOVER"), ("respond-empty", "without a staged result")])
  func illegalVerdict(mode: String, message: String) async throws {
    let path = try await FixturePlugin.compile("misbehave", into: folder)
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins: [{name: p, file: \(path), config: {mode: \(mode)}, isolation: worker}]
        chain: {graphql: [p]}
        """)
    let chain = TrialChain(try HostedChain(manifest))
    let process = chain.process
    for _ in 0..<2 {
      let failure = try #require(await chain.failure())
      #expect(failure.code == .fault && failure.message.contains(message), "\(failure)")
    }
    #expect(process != 0 && chain.process == process)
    #expect(chain.chain.workers().first?.restarts == 0)
  }

  @Test("field_set of a bad URL is refused at once, and a good one is accepted", .rule("worker-test.17"))
  func badURL() async throws {
    let chain = try TrialChain(try await TrialChain.compile(into: folder), [Entry(name: "p", action: "url")], list: "http")
    #expect(await chain.failure()?.message == "status -1 and 0")
  }

  @Test("a fetch without the grant is refused as in process", .rule("worker-test.18"), arguments: ["worker", "in-process"])
  func fetchWithoutGrant(isolation: String) async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder), [Entry(name: "p", action: "fetch", isolation: isolation)])
    #expect(await chain.failure()?.message == "no service")
  }

  @Test("a timer fires once, and a cancelled one never", .rule("worker-test.20"), arguments: ["worker", "in-process"])
  func timers(isolation: String) async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder), [Entry(name: "p", action: "timers", isolation: isolation)])
    #expect(try await chain.result() == "server")
  }

  @Test("hooks of a SERIAL plugin never overlap with four lanes", .rule("worker.32", "worker-test.22"))
  func serial() async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder, defining: ["THREADS=CRB_THREADS_SERIAL"]),
      [Entry(name: "p", action: "serial", isolation: "{mode: worker, lanes: 4}")])
    try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<64 { group.addTask { try await chain.result() } }
      for try await name in group { #expect(name == "server") }
    }
  }

  @Test(
    "baggage that a stage set is seen by a later one in another process", .rule("worker-test.23"),
    arguments: [("worker", "in-process"), ("in-process", "worker"), ("worker", "worker")])
  func baggage(first: String, second: String) async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder),
      [Entry(name: "setter", action: "bag-set", isolation: first), Entry(name: "getter", action: "bag-get", isolation: second)])
    // Twice: the numbers of keys are known to both from the first time on.
    for _ in 0..<2 { #expect(try await chain.result() == "setter") }
  }

  @Test("log lines have the level, the entry and the request that they have in process", .rule("worker-test.24"))
  func logLines() async throws {
    let plugin = try await TrialChain.compile(into: folder)
    let document = try TemporaryFile("query Q { hero { name } }", suffix: ".graphql")
    var lines: [String] = []
    for isolation in ["in-process", "worker"] {
      let manifest = try TemporaryFile(
        """
        carabiner: 1
        plugins: [{name: p, file: \(plugin), config: {do: log}, isolation: \(isolation)}]
        chain: {graphql: [p]}
        """)
      let run = try await CommandRun(
        ["run", "-m", manifest.path, "--endpoint", "http://127.0.0.1:9/", document.path], environment: ["CARABINER_LOG": "info"])
      #expect(run.status == 0, "\(run)")
      let found = run.errors.split(separator: "\n").filter { $0.contains("a line") }
      try #require(found.count == 1, "\(isolation): \(run.errors)")
      // Without the time.
      lines.append(String(found[0].drop { $0 != " " }))
    }
    #expect(lines[0] == lines[1])
    #expect(lines[0].contains("warning"), "\(lines)")
  }

  @Test("a body of 100 KB passes down and back unchanged", .rule("worker-test.25"))
  func largeBody() async throws {
    let chain = try TrialChain(try await TrialChain.compile(into: folder), [Entry(name: "p", action: "copy")])
    let name = (0..<20_000).map { "\($0 % 100_000) " }.joined()
    #expect(try await chain.result(of: #"{"data":{"hero":{"name":"\#(name)"}}}"#) == name)
  }

  @Test(
    "a message larger than half of the arena fails its call and names arena, and the worker lives",
    .rule("worker.34", "worker-test.25"))
  func tooLarge() async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder), [Entry(name: "p", action: "copy", isolation: "{mode: worker, arena: 1MiB}")])
    let process = chain.process
    let name = String(repeating: "x", count: 600 << 10)
    let failure = try #require(await chain.failure(of: #"{"data":{"hero":{"name":"\#(name)"}}}"#))
    #expect(failure.message.contains("raise isolation: {arena}"), "\(failure)")
    #expect(try await chain.result() == "server")
    #expect(chain.process == process)
  }

  @Test("a plugin that writes to a view of a message crashes, and the host does not see the change", .rule("worker.19"))
  func writtenView() async throws {
    let chain = try TrialChain(
      try await TrialChain.compile(into: folder),
      [Entry(name: "p", action: "write-view", extra: ", on-fault: skip"), Entry(name: "q", action: "pass")])
    let process = chain.process
    #expect(try await chain.result() == "server")
    try await chain.next(after: process)
    #expect(chain.chain.workers().first?.lastReason.contains("signal 11") == true, "\(chain.chain.workers())")
  }

  @Test("check creates each plugin in a real worker", .rule("worker.6"))
  func check() async throws {
    let plugin = try await BadPlugin.compile(
      """
      #include <carabiner.h>
      #include <errno.h>
      #include <sys/socket.h>
      static crb_status create(const crb_host *h, const crb_create_info *info, void **inst, crb_error *why) {
        (void)h, (void)info, (void)why;
        *inst = NULL;
        return socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == ENOSYS ? CRB_OK : CRB_E_INTERNAL;
      }
      #define CREATE create
      #define DESTROY NULL
      #include "sound.h"
      """, into: folder)
    for (isolation, status) in [("worker", 0), ("in-process", 3)] as [(String, Int32)] {
      let manifest = try TemporaryFile(
        """
        carabiner: 1
        plugins: [{name: p, file: \(plugin), isolation: \(isolation)}]
        chain: {graphql: [p]}
        """)
      let run = try await CommandRun(["check", "-m", manifest.path])
      #expect(run.status == status, "\(isolation): \(run.errors)")
    }
  }
}
