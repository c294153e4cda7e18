import CarabinerBridge
import Foundation
import Testing

@Suite("A child process that is watched")
struct WatchedProcessTests {
  private static func run(
    _ script: String, timeout: Duration = .seconds(60), _ change: (inout WatchedProcess.Settings) -> Void = { _ in }
  ) throws -> WatchedProcess.Outcome {
    var settings = WatchedProcess.Settings(environment: ["PATH=/usr/bin:/bin", "GREETING=hello"])
    change(&settings)
    return try WatchedProcess.run("/bin/sh", ["-c", script], settings, timeout: timeout)
  }

  @Test("stdout and stderr are captured separately, and the status is reported")
  func outcome() throws {
    let outcome = try Self.run("echo $GREETING; echo complaint >&2; exit 3")
    #expect(outcome.end == .exit(3))
    #expect(outcome.output == "hello\n")
    #expect(outcome.errors == "complaint\n")
  }

  @Test("a signal is distinguished from a status", arguments: [SIGSEGV, SIGKILL, SIGTERM])
  func signal(number: Int32) throws {
    #expect(try Self.run("kill -\(number) $$").end == .signal(number))
  }

  @Test("it reads nothing, and inherits nothing but its three streams")
  func streams() throws {
    #expect(try Self.run("cat").output.isEmpty)
    // The listing includes ls's own descriptor for the folder.
    #expect(try Self.run("ls /proc/self/fd").output.split(separator: "\n").count == 4)
  }

  @Test("output beyond the limit is dropped, and the process never blocks on a full pipe")
  func flood() throws {
    let outcome = try Self.run("head -c 20000000 /dev/zero | tr '\\0' x; head -c 20000000 /dev/zero | tr '\\0' y >&2; exit 7")
    #expect(outcome.end == .exit(7))
    #expect(outcome.output.utf8.count < 5_000_000)
    #expect(outcome.output.allSatisfy { $0 == "x" })
    #expect(outcome.errors.utf8.count < 5_000_000)
  }

  @Test("of what it writes the end is kept if that is what is wanted")
  func lastOutput() throws {
    let outcome = try Self.run("head -c 1000000 /dev/zero | tr '\\0' x; echo the end; echo short >&2") { $0.lastOutput = 1000 }
    #expect(outcome.output.utf8.count == 1000)
    #expect(outcome.output.hasPrefix("xxx"))
    #expect(outcome.output.hasSuffix("the end\n"))
    #expect(outcome.errors == "short\n")
  }

  @Test("one that starts more processes than it may have is killed with them")
  func crowd() throws {
    let script = "for i in 1 2 3 4 5 6; do sleep 1000 & done; echo $!; wait"
    let outcome = try Self.run(script) { $0.maximumProcesses = 4 }
    #expect(outcome.end == .crowd)
    try expectGone(outcome.output)
    #expect(try Self.run("for i in 1 2 3; do sleep 0.5 & done; wait") { $0.maximumProcesses = 4 }.end == .exit(0))
  }

  @Test("one that writes to us without end is killed")
  func reportFlood() throws {
    #expect(try Self.run("cat /dev/zero >&3") { $0.hasReport = true }.end == .flood)
    let most = try Self.run("head -c 4194304 /dev/zero >&3") { $0.hasReport = true }
    #expect(most.end == .exit(0))
    #expect(most.report.utf8.count == 4_194_304)
  }

  @Test("one that does not end in time is killed with all it started, also what ignores signals")
  func timeout() throws {
    let outcome = try Self.run("trap '' TERM INT; sleep 1000 & echo $!; wait", timeout: .milliseconds(300))
    #expect(outcome.end == .timeout)
    try expectGone(outcome.output)
  }

  @Test("processes it leaves running when it ends are killed too, and do not delay the reading")
  func orphans() throws {
    let clock = ContinuousClock()
    var outcome: WatchedProcess.Outcome?
    let time = try clock.measure { outcome = try Self.run("sleep 1000 & echo $!") }
    #expect(outcome?.end == .exit(0))
    #expect(time < .seconds(30))
    try expectGone(outcome?.output ?? "")
  }

  @Test("a program that is not there is an error")
  func absent() {
    #expect(throws: HostError.self) {
      try WatchedProcess.run("/no/such/program", [], .init(environment: []), timeout: .seconds(1))
    }
  }

  @Test("no process stays behind as a zombie, and no descriptor stays open")
  func nothingLeft() async throws {
    let child = try #require(Int32(Self.run("echo $$").output.trimmingCharacters(in: .newlines)))
    #expect(kill(child, 0) == -1)
    // A process of its own: other tests open descriptors at the same time.
    await #expect(processExitsWith: .success) {
      func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
      _ = try WatchedProcessTests.run("true")
      let before = try descriptors()
      for _ in 0..<100 { _ = try WatchedProcessTests.run("true") }
      #expect(try descriptors() < before + 10)
    }
  }

  private func expectGone(_ output: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let process = try #require(Int(output.trimmingCharacters(in: .newlines)), sourceLocation: sourceLocation)
    for _ in 0..<200 {
      guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return }
      // A zombie counts as ended.
      if status.split(separator: ")").last?.hasPrefix(" Z") == true { return }
      Thread.sleep(forTimeInterval: 0.01)
    }
    Issue.record("process \(process) is still there", sourceLocation: sourceLocation)
  }
}
