import Testing

@testable import CarabinerConformance

/// Messages about the confinement of a child. The confinement itself is tested with hostile plugins.
@Suite("Confinement")
struct ConfinementTests {
  @Test("strict confinement needs five layers, available confinement none")
  func layers() {
    #expect(Confinement.strict.missingLayers(after: 0).count == 5)
    #expect(Confinement.strict.missingLayers(after: .max) == [])
    #expect(Confinement.available.missingLayers(after: 0) == [])
  }

  @Test("a refusal names each layer that is missing, and the way out")
  func refusal() {
    // All but the first two.
    let missing = Confinement.strict.missingLayers(after: ~0b11)
    #expect(missing.count == 2)
    let text = Confinement.refusal(for: missing)
    for word in ["seccomp", "Landlock", "--confine available"] { #expect(text.contains(word), "\(text)") }
  }

  @Test(
    "a system call has its name of the manual, and an unknown number stays a number",
    arguments: [
      (435, "clone3"), (424, "pidfd_send_signal"), (469, "file_setattr"), (400, "system call 400"), (-1, "system call -1"),
    ])
  func names(_ number: Int64, _ name: String) { #expect(SystemCall.name(of: number) == name) }

  #if arch(x86_64)
    @Test(
      "the first numbers are those of this machine", arguments: [(0, "read"), (39, "getpid"), (110, "getppid"), (334, "rseq")])
    func machineNames(_ number: Int64, _ name: String) { #expect(SystemCall.name(of: number) == name) }
  #endif

  @Test("refused calls are one line, with how often each was made")
  func refusedCalls() {
    #expect(RefusedCalls(calls: []).text == nil)
    let calls = RefusedCalls(calls: [.init(number: 425, count: 1), .init(number: 434, count: 3)])
    #expect(calls.text == "refused system calls: io_uring_setup, pidfd_open (3 times)")
  }

  @Test(
    "a refused call is a failure of PR03, and one that is newer than the harness a warning",
    arguments: [(425, .failure), (-1, .failure), (900, .warning)] as [(Int64, Finding.Severity)])
  func findings(_ number: Int64, _ severity: Finding.Severity) {
    let found = [1, 5].map { RefusedCalls(calls: [.init(number: number, count: $0)]).findings(declared: ["socket"]) }
    #expect(found[0].map(\.check) == ["PR03"])
    #expect(found[0].map(\.severity) == [severity])
    #expect(found[0] == found[1])
  }

  @Test("a socket is a failure of PR03, unless the note declares it")
  func sockets() throws {
    let number = try #require((0..<512).first { SystemCall.name(of: Int64($0)) == "socket" })
    let calls = RefusedCalls(calls: [.init(number: Int64(number), count: 1)])
    #expect(calls.findings(declared: ["abort"]).map(\.severity) == [.failure])
    #expect(calls.findings(declared: ["socket"]) == [])
  }
}
