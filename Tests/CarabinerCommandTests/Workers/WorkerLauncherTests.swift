import CarabinerBridge
import CarabinerHost
import CarabinerWorkers
import Foundation
import TestTools
import Testing

/// The host's side of the launcher.
@Suite("The host's launcher of workers")
struct WorkerLauncherTests {
  /// The service makes the same layers as the launcher that is run for one worker.
  @Test("a worker that the host starts reports its layers, and ends with status 0", .rule("worker.10", "worker.11"))
  func layers() async throws {
    let trial = try await WorkerTrial.run(by: WorkerTrial.launcher(), isStrict: false)
    #expect(trial.end.cause == .exit(0), "\(trial)")
    #expect(trial.report.contains("in force: \(WorkerRun.Layer.calls)\n"), "\(trial.report)")
    #expect(trial.report.hasSuffix("confined\n"), "\(trial.report)")
    #expect(trial.end.maximumMemory > 0)
    #expect(trial.end.userTime + trial.end.systemTime > .zero)
    let lines = try await WorkerRun(["--confine", "available"]).inForce
    for layer in lines { #expect(trial.report.contains("in force: \(layer)\n"), "\(trial.report)") }
  }

  @Test("the launcher says which layers it makes, and why not the others", .rule("worker.7"))
  func launcherLayers() async throws {
    let launcher = WorkerTrial.launcher()
    let layers = try await offThePool { try launcher.layers() }
    let hasNamespaces = await WorkerRun.hasNamespaces(.current)
    #expect((layers.missingNamespaces == nil) == hasNamespaces, "\(layers)")
    #expect((layers.missingRoot == nil) == hasNamespaces, "\(layers)")
    #expect(layers.missingNamespaces?.isEmpty != true)
  }

  @Test("a wrong word ends the worker with status 2, and a signal with its number", .rule("worker.42"))
  func ends() async throws {
    let launcher = WorkerTrial.launcher()
    let wrong = try await WorkerTrial.run(by: launcher) { $0.words = ["--nothing", "1"] }
    #expect(wrong.end.cause == .exit(2), "\(wrong)")
    #expect(wrong.output.contains("carabiner-launcher --help"), "\(wrong)")
    let killed = try await offThePool {
      let stuck = try StuckWorker(launcher)
      // The number is known only while the process is there.
      #expect(stuck.worker.process > 0 && kill(stuck.worker.process, 0) == 0)
      stuck.worker.signal(SIGKILL)
      return stuck.end.wait()
    }
    #expect(killed?.cause == .signal(SIGKILL))
  }

  @Test(
    "when the launcher is killed, its workers end and are reported, and the next start has a new one", .rule("worker-test.37"))
  func killedLauncher() async throws {
    let launcher = WorkerTrial.launcher()
    let first = try await offThePool {
      let workers = try (0..<3).map { _ in try StuckWorker(launcher) }
      let process = try #require(launcher.process)
      kill(process, SIGKILL)
      for stuck in workers {
        #expect(stuck.worker.waitForEnd(within: .seconds(20)))
        #expect(stuck.end.wait()?.cause == .launcher)
      }
      return process
    }
    let trial = try await WorkerTrial.run(by: launcher)
    #expect(trial.end.cause == .exit(0), "\(trial)")
    #expect(launcher.process != nil)
    #expect(launcher.process != first)
  }

  @Test("when the host needs its launcher no more, launcher and workers end", .rule("worker.56"))
  func end() async throws {
    let launcher = WorkerTrial.launcher()
    try await offThePool {
      let stuck = try StuckWorker(launcher)
      launcher.end()
      #expect(stuck.worker.waitForEnd(within: .seconds(20)))
      #expect(stuck.end.wait()?.cause == .launcher)
    }
    #expect(launcher.process == nil)
  }

  @Test("the host shares one launcher for the same folders, as long as it has a user")
  func shared() {
    let folders: Set = ["/usr/share", "/usr/lib"]
    let launcher = WorkerLauncher.shared(reading: folders)
    #expect(WorkerLauncher.shared(reading: folders) === launcher)
    #expect(WorkerLauncher.shared(reading: ["/usr/share"]) !== launcher)
    #expect(WorkerLauncher.shared(reading: folders, user: WorkerOwner(user: 1, group: 1)) !== launcher)
  }

  @Test("threads that start workers at the same time share a launcher, and each gets its own worker")
  func manyStarts() async throws {
    let launcher = WorkerTrial.launcher()
    let trials = try await withThrowingTaskGroup(of: WorkerTrial.self) { group in
      for _ in 0..<16 { group.addTask { try await WorkerTrial.run(by: launcher) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(trials.allSatisfy { $0.end.cause == .exit(0) }, "\(trials)")
    // A worker that ended before the host looked has no number.
    let processes = trials.map(\.process).filter { $0 != 0 }
    #expect(Set(processes).count == processes.count, "\(processes)")
  }

  @Test("200 starts leave no descriptor open", .rule("worker-test.50"))
  func descriptors() async throws {
    // A process of its own: other tests open descriptors at the same time.
    await #expect(processExitsWith: .success) {
      let launcher = WorkerTrial.launcher()
      // The first start opens what the others share, and the reader of a folder opens one more.
      _ = try await WorkerTrial.run(by: launcher)
      _ = OpenDescriptors.count(of: nil)
      let process = try #require(launcher.process)
      let (before, launcherBefore) = (OpenDescriptors.count(of: nil), OpenDescriptors.count(of: process))
      for _ in 0..<200 {
        let trial = try await WorkerTrial.run(by: launcher)
        try #require(trial.end.cause == .exit(0), "\(trial)")
      }
      #expect(OpenDescriptors.count(of: nil) < before + 10)
      #expect(OpenDescriptors.count(of: process) == launcherBefore)
      #expect(launcher.process == process)
    }
  }
}

/// Launchers and orders that the host refuses, or that refuse the host.
@Suite("Bad launchers and bad orders")
struct BadLauncherTests {
  @Test("the build of the launcher is the version of Carabiner", .rule("worker.10"))
  func build() { #expect(WorkerLauncher.build == ServerVersion.text) }

  @Test("a launcher of another version is refused with both texts", .rule("worker.10", "worker-input.24"))
  func oldVersion() async throws {
    let folder = try FixturePlugin.Folder()
    try await WorkerTrial.compile("old_launcher", into: folder, as: "carabiner-launcher")
    try Data().write(to: folder.file("carabiner-worker"))
    let error = await refusal(by: WorkerLauncher(reading: [], path: folder.file("carabiner-launcher").path))
    #expect(error?.code == .launcherVersion)
    #expect(error?.message.contains("version 0.9.0, protocol 0; ") == true, "\(String(describing: error))")
    #expect(error?.message.contains("version \(ServerVersion.text), protocol 1.") == true, "\(String(describing: error))")
  }

  @Test("a launcher that ends at once is an error that names its path")
  func shortLauncher() async throws {
    let folder = try FixturePlugin.Folder()
    let path = folder.file("carabiner-launcher").path
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/bin/true")
    try Data().write(to: folder.file("carabiner-worker"))
    let error = await refusal(by: WorkerLauncher(reading: [], path: path))
    #expect(error?.code == .launcherFailed)
    #expect(error?.path == path)
  }

  @Test("a launcher that is missing is an error that says how to install it")
  func missingLauncher() async throws {
    let error = await refusal(by: WorkerLauncher(reading: [], path: "/nonexistent/carabiner-launcher"))
    #expect(error?.code == .notFound)
    #expect(error?.message.contains("Install both beside the host, or set CARABINER_LAUNCHER") == true)
  }

  /// An order with an error.
  struct BadOrder: Sendable, CustomTestStringConvertible {
    let reason: String
    let change: @Sendable (inout WorkerOrder) -> Void

    var testDescription: String { reason }

    init(_ reason: String, _ change: @escaping @Sendable (inout WorkerOrder) -> Void) {
      self.reason = reason
      self.change = change
    }

    static let all = [
      BadOrder("the folder /etc: Permission denied") { $0.reading = ["/etc"] },
      BadOrder("the variable LD_PRELOAD") { $0.environment = ["LD_PRELOAD=/tmp/evil.so"] },
      BadOrder("the word --user") { $0.words = ["--user", "0:0"] },
      BadOrder("the memory") { $0.memory = 1 },
      BadOrder("the number of descriptors") { $0.descriptors = [] },
      BadOrder("Bad file descriptor") { $0.descriptors = [-1] },
      BadOrder("65 variables") { $0.environment = Array(repeating: "A=b", count: 65) },
      BadOrder("65 words") { $0.words = Array(repeating: "--a", count: 65) },
      BadOrder("257 folders") { $0.reading = Set((0..<257).map { "/\($0)" }) },
      BadOrder("61 descriptors") { $0.descriptors = Array(repeating: 2, count: 61) },
      BadOrder("a NUL character") { $0.words = ["--a", "b\0c"] },
      BadOrder("bytes of folders") { $0.words = ["--a", String(repeating: "b", count: 70_000)] },
    ]
  }

  @Test("an order that cannot be carried out is refused, and the launcher goes on", arguments: BadOrder.all)
  func badOrders(_ bad: BadOrder) async throws {
    let launcher = WorkerTrial.launcher()
    let error = await refusal(by: launcher, bad.change)
    #expect(error?.message.contains(bad.reason) == true, "\(String(describing: error))")
    let process = launcher.process
    let trial = try await WorkerTrial.run(by: launcher)
    #expect(trial.end.cause == .exit(0), "\(trial)")
    #expect(launcher.process == process)
  }

  private func refusal(
    by launcher: WorkerLauncher, _ change: @escaping @Sendable (inout WorkerOrder) -> Void = { _ in }
  ) async -> HostError? {
    do {
      _ = try await WorkerTrial.run(by: launcher, change: change)
      return nil
    } catch {
      return error as? HostError
    }
  }

  @Test("bytes that are not a valid request are answered with a failure, and the launcher goes on")
  func badMessages() async throws {
    let folder = try FixturePlugin.Folder()
    let host = try await WorkerTrial.compile("launching", into: folder, as: "launching")
    let run = try await ToolRun(host, ["bad"] + WorkerRun.programs.map(\.path))
    #expect(run.status == 0, "\(run)")
    let lines = run.output.split(separator: "\n").map(String.init)
    let answers = lines.dropLast(2)
    #expect(answers.count > 30, "\(run.output)")
    for answer in answers { #expect(answer.contains(/: failed [07] E[A-Z0-9]+: ./), "\(answer)") }
    #expect(answers.contains("far too many descriptors: failed 7 E2BIG: the length of the message, or the number of descriptors"))
    #expect(answers.contains("a folder that the launcher does not have: failed 7 EACCES: the folder /etc"))
    #expect(lines.suffix(2) == ["then: ended 7 with 0", "launcher: 0"], "\(run.output)")
  }

  @Test("when the host is killed, no process of its own is left", .rule("worker-test.38"))
  func killedHost() async throws {
    let folder = try FixturePlugin.Folder()
    let host = try await WorkerTrial.compile("launching", into: folder, as: "launching")
    let plugin = try await WorkerRun.compile(
      "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { for (;;) pause(); }", into: folder)
    let run = try await ToolRun(host, ["killed"] + WorkerRun.programs.map(\.path) + [plugin])
    #expect(run.status == 0, "\(run)")
    for name in ["worker", "launcher", "starter"] {
      let match = try #require(run.output.firstMatch(of: try Regex("\(name) ended after (\\d+) us")), "\(run)")
      // About a millisecond. The machine may be busy.
      #expect(Int(match.output[1].substring ?? "") ?? .max < 5_000_000, "\(run.output)")
    }
  }
}
