import CarabinerManifest
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("The control group for the processor time of workers")
struct ControlGroupTests {
  /// A folder that looks like that of a process in /proc, with a control group of its own.
  private struct Process {
    let folder: FixturePlugin.Folder
    var path: String { folder.url.path }
    var group: String { "\(path)/cgroup2/service" }

    init(controllers: String? = "cpu memory", files: [String] = ["cgroup.procs", "cgroup.subtree_control"], root: String = "/")
      throws
    {
      folder = try FixturePlugin.Folder()
      try FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: true)
      try write("1 0 0:1 / / rw - ext4 disk rw\n2 1 0:2 \(root) \(path)/cgroup2 rw shared:9 - cgroup2 none rw\n", to: "mountinfo")
      try write("1:cpu:/old\n0::\(root == "/" ? "" : root)/service\n", to: "cgroup")
      if let controllers { try write("\(controllers)\n", to: "cgroup2/service/cgroup.controllers") }
      for file in files { try write("", to: "cgroup2/service/\(file)") }
    }

    func write(_ text: String, to name: String) throws {
      try text.write(to: folder.file(name), atomically: false, encoding: .utf8)
    }
  }

  /// Why a process cannot limit processor time; nil if it can.
  private func lack(_ process: Process) -> String? {
    do throws(ControlGroup.Lack) {
      try ControlGroup(process: process.path).check("cpu")
      return nil
    } catch {
      return error.description
    }
  }

  @Test(
    "a delegated group with the controller is found below its mount", .rule("worker.8"), arguments: ["/", "/machine.slice/a"])
  func delegated(root: String) throws {
    let process = try Process(root: root)
    let group = try ControlGroup(process: process.path)
    #expect(group.folder == process.group)
    #expect(group.controllers == ["cpu", "memory"])
    #expect(lack(process) == nil)
  }

  @Test("the reason names what is missing", .rule("worker.8"))
  func lacking() throws {
    #expect(lack(try Process(controllers: "memory pids"))?.contains("has no cpu controller (it has: memory, pids)") == true)
    #expect(lack(try Process(controllers: ""))?.contains("has no cpu controller (it has: none)") == true)
    #expect(lack(try Process(controllers: nil))?.contains("cannot be read") == true)
    #expect(lack(try Process(files: ["cgroup.procs"]))?.contains("is not delegated to it: ") == true)
    let none = try Process()
    try none.write("1:cpu:/old\n", to: "cgroup")
    #expect(lack(none) == "this process is in no cgroup v2")
    try none.write("1 0 0:1 / / rw - ext4 disk rw\n- - -\n", to: "mountinfo")
    #expect(lack(none) == "this system has no cgroup v2 file system")
  }

  @Test(
    "cpu on a system without a delegated cgroup v2 is a problem with line, column and remedy",
    .rule("worker-input.31", "worker.8"))
  func problem() throws {
    let manifest = try ManifestFixtures.manifest(
      """
      carabiner: 1
      plugins:
        - name: a
          file: present.plugin
          isolation:
            mode: worker
            cpu: 50%
        - {name: b, file: secret.txt, isolation: worker}
      chain: {http: [a, b]}
      """)
    let bare = try Process(controllers: "hugetlb")
    let problems = manifest.placed(
      manifest.workerProblems(IsolationOverrides(), isRoot: false) { () throws(ControlGroup.Lack) in
        try ControlGroup(process: bare.path)
      })
    #expect(problems.map(\.pointer.description) == ["/plugins/0/isolation/cpu"])
    let problem = try #require(problems.first)
    #expect(problem.code == .isolation)
    #expect(problem.position.map { "\($0.line):\($0.column)" } == "7:7")
    #expect(problem.message.contains("has no cpu controller (it has: hugetlb)"), "\(problem.message)")
    #expect(problem.message.contains("start the host as a systemd service with Delegate=cpu, or remove cpu"))
    let delegated = try Process()
    #expect(
      manifest.workerProblems(IsolationOverrides(), isRoot: false) { () throws(ControlGroup.Lack) in
        try ControlGroup(process: delegated.path)
      }.isEmpty)
  }

  @Test("a user of workers that does not exist is a problem if the host is root and has workers", .rule("worker.11"))
  func user() throws {
    func problems(_ isolation: String, isRoot: Bool) throws -> [ManifestProblem] {
      let manifest = try ManifestFixtures.manifest(
        "{carabiner: 1, settings: {worker-user: absent-user}, plugins: [{name: a, file: present.plugin, isolation: \(isolation)}]}"
      )
      return manifest.workerProblems(IsolationOverrides(), isRoot: isRoot)
    }
    #expect(try problems("worker", isRoot: true).map(\.pointer.description) == ["/settings/worker-user"])
    #expect(try problems("worker", isRoot: false).isEmpty)
    #expect(try problems("in-process", isRoot: true).isEmpty)
  }
}
