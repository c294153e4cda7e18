import Carabiner
import CarabinerABI
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("A plugin that kills the host again and again is left out, or the host does not start")
struct CrashLoopTests {
  private let folder: FixturePlugin.Folder
  private let directory: String
  private static let digest = String(repeating: "0a", count: 32)

  init() throws {
    folder = try FixturePlugin.Folder()
    directory = folder.file("crashes").path
  }

  private func policy(_ then: CrashLoopPolicy.Remedy = .refuse, after: Int = 2) -> CrashLoopPolicy {
    var policy = CrashLoopPolicy()
    policy.after = after
    policy.then = then
    return policy
  }

  private func manifest(_ path: String, extra: String = "") throws -> Manifest {
    try Manifest(
      text: """
        carabiner: 1
        plugins: [{name: killer, file: \(path)\(extra)}]
        chain: {graphql: [killer]}
        """)
  }

  @Test("the next process sees two crashes and applies the policy until they are cleared")
  func loop() async throws {
    let path = try await FixturePlugin.compile("crash", into: folder)
    for _ in 1...2 {
      await #expect(processExitsWith: .signal(SIGSEGV)) { [path = path as String, directory = directory as String] in
        let crashLoop = try CrashLoopGuard(directory: directory, policy: CrashLoopPolicy())
        try CrashReporter.install(recordingTo: crashLoop.recordPath)
        try await CrashReporterTests.die(path, in: "on_request", by: "segv")
      }
    }
    let refusing = try CrashLoopGuard(directory: directory, policy: policy())
    let digest = try PluginNote.inspect(path: path).digest
    #expect(refusing.crashes(of: digest) == 2)
    let error = try #require(throws: ManifestError.self) { try HostedChain(manifest(path), crashLoop: refusing) }
    let problem = try #require(error.problems.first)
    #expect(problem.code == .crashLoop)
    #expect(problem.pointer.description == "/plugins/0")
    for part in [
      "killer is not loaded: it killed the host 2 times within 10m, last at ",
      " by SIGSEGV in on_request as killer (SHA-256 \(digest))",
      "crash-loop: {then: skip} would leave it out", "remove \(directory)/crashes to have it tried again",
    ] {
      #expect(problem.message.contains(part), "\(problem.message)")
    }

    let skipping = try CrashLoopGuard(directory: directory, policy: policy(.skip))
    let chain = try HostedChain(manifest(path), crashLoop: skipping)
    #expect(try await HostedPlugins.name(chain) == "server")
    let entry = try #require(chain.entries().first)
    #expect(!entry.isEnabled)
    #expect(entry.decision?.source == .crashLoop(crashes: 2, within: .seconds(600)))
    #expect(entry.digest == nil)
    #expect(chain.plan(nil, .query).stages[.graphQL].first?.isActive == false)
    let mandatory = #expect(throws: ManifestError.self) {
      try HostedChain(manifest(path, extra: ", mandatory: true"), crashLoop: skipping)
    }
    #expect(mandatory?.problems.first?.message.contains("it is mandatory and is not left out") == true)

    // One crash is below the threshold, and crashes are counted per file digest.
    #expect(
      try HostedChain(manifest(path), crashLoop: CrashLoopGuard(directory: directory, policy: policy(after: 3))).libraries.count
        == 1)
    let other = try await FixturePlugin.compile("faults", into: folder, name: "other.so")
    #expect(try HostedChain(manifest(other), crashLoop: refusing).libraries.count == 1)

    try skipping.clear(digest)
    #expect(skipping.crashes(of: digest) == 0)
    try chain.setOverrides(chain.overrides)
    #expect(chain.libraries.count == 1)
    #expect(try CrashLoopGuard(directory: directory, policy: policy()).crashes(of: digest) == 0)
  }

  @Test("crashes count within their time only, and what is older is forgotten")
  func window() throws {
    let now = Date(timeIntervalSince1970: 10_000)
    try write(
      [9_399, 9_400, 9_700, 10_000, 10_061].map { "1 \($0) SIGSEGV \(Self.digest) killer on_request" }.joined(separator: "\n"))
    let crashLoop = try CrashLoopGuard(directory: directory, policy: policy(), now: { now })
    #expect(crashLoop.crashes(of: Self.digest) == 3)
    let kept = try String(contentsOfFile: "\(directory)/crashes", encoding: .utf8)
    #expect(kept.split(separator: "\n").count == 3)
  }

  @Test(
    "a line that is not a valid crash record is ignored",
    arguments: [
      "", "\0\u{FF}garbage", "1 NOW SIGSEGV DIGEST killer", "2 NOW SIGSEGV DIGEST killer on_request",
      "1 -NOW SIGSEGV DIGEST killer on_request", "1 NOW SEGV DIGEST killer on_request", "1 NOW SIGSEGV 0a0a killer on_request",
      "1 NOW SIGSEGV - killer on_request", "1 NOW SIGSEGV DIGEST kil\u{1B}[2Jler on_request", "1 NOW SIGSEGV DIGEST killer ",
      "1 99999999999999999999 SIGSEGV DIGEST killer on_request", "1  NOW SIGSEGV DIGEST killer on_request",
      "1 NOW SIGSEGV DIGEST \(String(repeating: "k", count: 200)) on_request",
    ])
  func hostile(line: String) throws {
    let text = line.replacingOccurrences(of: "NOW", with: "\(Int(Date.now.timeIntervalSince1970))")
      .replacingOccurrences(of: "DIGEST", with: Self.digest)
    try write("\(text)\n")
    let crashLoop = try CrashLoopGuard(directory: directory, policy: policy())
    #expect(crashLoop.crashes(of: Self.digest) == 0)
    #expect(try String(contentsOfFile: "\(directory)/crashes", encoding: .utf8).isEmpty)
  }

  @Test(
    "a file that is too large, a link, a pipe, or open to all counts for nothing", arguments: ["large", "link", "pipe", "open"])
  func foreign(kind: String) throws {
    let line = "1 \(Int(Date.now.timeIntervalSince1970)) SIGSEGV \(Self.digest) killer on_request\n"
    try write(kind == "large" ? String(repeating: line, count: 20_000) : line)
    let path = "\(directory)/crashes"
    switch kind {
    case "link":
      let elsewhere = folder.file("elsewhere").path
      try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
    case "pipe":
      try FileManager.default.removeItem(atPath: path)
      #expect(unsafe mkfifo(path, 0o600) == 0)
    case "open": try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    default: break
    }
    #expect(try CrashLoopGuard(directory: directory, policy: policy()).crashes(of: Self.digest) == 0)
  }

  @Test("a folder others may write to is refused")
  func folders() throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
    let error = #expect(throws: HostError.self) { try CrashLoopGuard(directory: directory, policy: policy()) }
    #expect(error?.code == .notOurs)
    #expect(error?.message.contains("correct owner and permissions") == true)
  }

  @Test("the record of a process that lives is left alone")
  func living() throws {
    let line = "1 \(Int(Date.now.timeIntervalSince1970)) SIGSEGV \(Self.digest) killer on_request\n"
    try write("")
    let path = "\(directory)/record-1-1"
    try Data(line.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let descriptor = unsafe open(path, O_RDONLY)
    #expect(flock(descriptor, LOCK_EX) == 0)
    #expect(try CrashLoopGuard(directory: directory, policy: policy()).crashes(of: Self.digest) == 0)
    #expect(FileManager.default.fileExists(atPath: path))
    close(descriptor)
    #expect(try CrashLoopGuard(directory: directory, policy: policy()).crashes(of: Self.digest) == 1)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  private func write(_ text: String) throws {
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(text.utf8).write(to: URL(filePath: "\(directory)/crashes"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(directory)/crashes")
  }
}
