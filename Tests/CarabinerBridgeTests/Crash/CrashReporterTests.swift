import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import Foundation
import TestTools
import Testing

/// A plugin that crashes the host, and the expected report.
struct CrashCase: Codable, Sendable, CustomTestStringConvertible {
  let place: String
  let how: String
  let signal: Int32
  let expected: String
  var definitions: [String] = []

  var testDescription: String { "\(how) in \(place)" }

  static let all = [
    CrashCase(place: "on_request", how: "segv", signal: SIGSEGV, expected: "fatal SIGSEGV at address 0x10 in plugin killer, "),
    CrashCase(place: "on_request", how: "ill", signal: SIGILL, expected: "fatal SIGILL at address 0x"),
    CrashCase(place: "on_request", how: "abort", signal: SIGABRT, expected: "fatal SIGABRT in plugin killer, "),
    CrashCase(place: "on_request", how: "fpe", signal: SIGFPE, expected: "fatal SIGFPE in plugin killer, "),
    CrashCase(place: "on_request", how: "bus", signal: SIGBUS, expected: "fatal SIGBUS in plugin killer, "),
    CrashCase(place: "on_request", how: "overflow", signal: SIGSEGV, expected: "fatal SIGSEGV at address 0x"),
    CrashCase(place: "on_result", how: "segv", signal: SIGSEGV, expected: ", hook on_result, call "),
    CrashCase(place: "release", how: "segv", signal: SIGSEGV, expected: ", hook release, call "),
    CrashCase(place: "create", how: "abort", signal: SIGABRT, expected: ", hook create, generation 7"),
    CrashCase(place: "timer", how: "segv", signal: SIGSEGV, expected: ", hook callback, generation 7"),
    CrashCase(
      place: "thread", how: "segv", signal: SIGSEGV, expected: ", on a thread of its own or of another's; the instruction is"),
    CrashCase(
      place: "entry", how: "segv", signal: SIGSEGV, expected: ", hook entry, generation 0", definitions: ["CRASH_IN_ENTRY"]),
  ]
}

@Suite("A crash names the culprit")
struct CrashReporterTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// Sends one request through a plugin that kills the process.
  static func die(_ path: String, in place: String, by how: String) async throws {
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins: [{name: killer, file: \(path), config: {where: \(place), how: \(how)}}]
        chain: {graphql: [killer]}
        """)
    _ = try await HostedPlugins.name(HostedChain(manifest, generation: 7))
    // Waits for crashes that come after the response.
    try await Task.sleep(for: .seconds(10))
  }

  @Test("one line reports plugin, file, hook, call and generation, and the process dies as usual", arguments: CrashCase.all)
  func lastLine(_ crash: CrashCase) async throws {
    let path = try await FixturePlugin.compile("crash", defining: crash.definitions, into: folder)
    let result = await #expect(processExitsWith: .signal(crash.signal), observing: [\.standardErrorContent]) {
      [path = path as String, place = crash.place as String, how = crash.how as String] in
      try CrashReporter.install()
      try await Self.die(path, in: place, by: how)
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = errors.split(separator: "\n").filter { $0.hasPrefix("carabiner: fatal ") }
    #expect(lines.count == 1, "\(errors)")
    let line = try #require(lines.first)
    #expect(line.contains(crash.expected), "\(line)")
    #expect(line.contains(" in plugin killer, file \(path), "), "\(line)")
    if crash.place.hasPrefix("on_") {
      #expect(line.contains(try Regex(", hook \(crash.place), call [1-9][0-9]*, generation 7; the instruction ")), "\(line)")
    }
  }

  @Test("where no plugin's code runs the line says so")
  func withoutPlugin() async throws {
    let result = await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
      try CrashReporter.install()
      abort()
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(errors.contains("carabiner: fatal SIGABRT; no plugin code was running on this thread"), "\(errors)")
  }

  @Test("a handler that was there before comes after", arguments: [("segv", SIGSEGV), ("abort", SIGABRT)])
  func chained(how: String, signal: Int32) async throws {
    let path = try await FixturePlugin.compile("crash", into: folder)
    let result = await #expect(processExitsWith: .exitCode(42), observing: [\.standardErrorContent]) {
      [path = path as String, how = how as String, signal = signal as Int32] in
      Foundation.signal(signal) { _ in _exit(42) }
      try CrashReporter.install()
      try await Self.die(path, in: "on_request", by: how)
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(errors.contains(" in plugin killer, file \(path), hook on_request"), "\(errors)")
  }

  @Test("a file to record to that is not ours alone is refused", arguments: ["link", "folder", "open to all", "no folder"])
  func records(kind: String) throws {
    let path = folder.file("record").path
    let files = FileManager.default
    switch kind {
    case "link": try files.createSymbolicLink(atPath: path, withDestinationPath: folder.file("elsewhere").path)
    case "folder": try files.createDirectory(atPath: path, withIntermediateDirectories: false)
    case "open to all": #expect(files.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o666]))
    default: break
    }
    #expect(throws: HostError.self) {
      try CrashReporter.install(recordingTo: kind == "no folder" ? "\(path)/record" : path)
    }
  }
}
