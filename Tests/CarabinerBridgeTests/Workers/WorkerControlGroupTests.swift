import CarabinerManifest
import Foundation
import Glibc
import TestTools
import Testing

@testable import CarabinerBridge
@testable import CarabinerWorkers

@Suite("Control groups of workers")
struct WorkerControlGroupTests {
  @Test(
    "a worker with cpu has limits of time, memory and threads, as far as the controllers are there",
    .rule("worker.47", "worker.8"))
  func limits() {
    var settings = WorkerSettings(group: "g")
    settings.processorPercentage = 150
    settings.memoryBytes = 256 << 20
    settings.arenaBytes = 1 << 20
    let all = WorkerControlGroup.limits(of: settings, lanes: 2, controllers: ["cpu", "io", "memory", "pids"])
    #expect(
      all.map { "\($0.file) \($0.value)" } == [
        "cpu.max 150000 100000", "memory.max \((256 + 6 + 64) << 20)", "memory.oom.group 1", "pids.max 128",
      ])
    #expect(WorkerControlGroup.limits(of: settings, lanes: 2, controllers: ["cpu"]).map(\.file) == ["cpu.max"])
  }

  @Test("a worker without cpu has no control group, and one with it has none without a delegated cgroup v2", .rule("worker.8"))
  func lack() throws {
    var settings = WorkerSettings(group: "g")
    #expect(try WorkerControlGroup.made(for: settings, lanes: 1) == nil)
    guard (try? ControlGroup().check("cpu")) == nil else { return }
    settings.processorPercentage = 50
    let error = #expect(throws: HostError.self) { try WorkerControlGroup.made(for: settings, lanes: 1) }
    #expect(error?.message.contains("cpu needs a delegated cgroup v2, and ") == true)
  }

  /// A control group of this kernel that this process may change; nil if there is none.
  private static let mount: String? = {
    guard let parent = try? ControlGroup(), FileManager.default.isWritableFile(atPath: "\(parent.folder)/cgroup.procs") else {
      return nil
    }
    return parent.folder
  }()

  @Test(
    "a process is moved into a control group of the kernel, which goes with it", .rule("worker.47"), .enabled(if: mount != nil))
  func move() async throws {
    let base = "\(try #require(Self.mount))/carabiner-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: false)
    // The files of a control group cannot be removed, and go with its folder.
    defer {
      unsafe rmdir("\(base)/carabiner-host")
      unsafe rmdir(base)
    }
    let sleeper = ChildProcess()
    sleeper.executableURL = URL(filePath: "/bin/sleep")
    sleeper.arguments = ["60"]
    try sleeper.run()
    defer {
      kill(sleeper.processIdentifier, SIGKILL)
      sleeper.waitUntilExit()
    }
    try "\(sleeper.processIdentifier)".write(toFile: "\(base)/cgroup.procs", atomically: false, encoding: .utf8)
    func group() throws -> String? {
      let file = FileHandle(forReadingAtPath: "/proc/\(sleeper.processIdentifier)/cgroup")
      let lines = String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
      return lines.first { $0.hasPrefix("0::") }.map(String.init)
    }
    let name = (base as NSString).lastPathComponent
    let parent = try ControlGroup(process: "/proc/\(sleeper.processIdentifier)")
    #expect(parent.folder == base)
    let made = try WorkerControlGroup(below: parent, [])
    // The processes of the host's group are in one below it, so that it can pass controllers on.
    #expect(try group()?.hasSuffix("/\(name)/carabiner-host") == true)
    try made.add(number: sleeper.processIdentifier)
    #expect(try group()?.hasSuffix("/\((made.folder as NSString).lastPathComponent)") == true)
    made.remove()
    #expect(FileManager.default.fileExists(atPath: made.folder))
    kill(sleeper.processIdentifier, SIGKILL)
    sleeper.waitUntilExit()
    made.remove()
    #expect(!FileManager.default.fileExists(atPath: made.folder))
    let error = #expect(throws: HostError.self) {
      _ = try WorkerControlGroup(below: parent, [.init(file: "cpu.none", value: "1")])
    }
    #expect(error?.path.hasSuffix("/cpu.none") == true)
  }
}
