import CarabinerHost
import CarabinerRelease
import Foundation
import TestTools
import Testing

/// A chain that is signed by the real ssh-keygen, at times of the test's choice.
final class SignedStamps: Sendable {
  /// 2027-01-15T08:00:00Z.
  static let time = ReleaseTime(seconds: 1_800_000_000)

  let chain: StampedChain
  var folder: FixturePlugin.Folder { chain.folder }
  var plugin: String { folder.file("stamp.so").path }
  private var key: String { folder.file("key").path }

  /// - Parameter more: Further lines of the manifest.
  init(_ more: String = "") async throws {
    chain = try await StampedChain("one", more)
    _ = try await keygen(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key])
    try Data("* \(try String(contentsOfFile: "\(key).pub", encoding: .utf8))".utf8).write(to: folder.file("trust"))
    try await sign()
  }

  /// The policy at a time.
  func policy(at time: ReleaseTime = time) -> TrustPolicy {
    TrustPolicy(file: folder.file("trust").path) { Date(timeIntervalSince1970: Double(time.seconds)) }
  }

  /// Signs the manifest and the plugin as they are.
  func sign(serial: Int = 1, issued: ReleaseTime = time, days: Int = 90) async throws {
    try await sign(chain.manifest, as: "manifest:chain", serial: serial, issued: issued, days: days)
    try await sign(plugin, as: "plugin:stamp", serial: serial, issued: issued, days: days)
  }

  func sign(
    _ path: String, as subject: String, serial: Int = 1, issued: ReleaseTime = time, days: Int = 90
  ) async throws {
    let statement = try ReleaseStatement(
      subject: try #require(ReleaseSubject(subject)), serial: serial,
      file: FileIdentity(of: Array(try Data(contentsOf: URL(filePath: path)))), issued: issued,
      expires: issued.adding(seconds: days * 86_400))
    let armor = try await keygen(["-q", "-Y", "sign", "-f", key, "-n", "carabiner-release"], input: statement.text)
    try Data((statement.text + armor).utf8).write(to: URL(filePath: "\(path).release"))
  }

  private func keygen(_ arguments: [String], input: String = "") async throws -> String {
    let run = try await ToolRun(URL(filePath: "/usr/bin/env"), ["ssh-keygen"] + arguments, input: input)
    try #require(run.status == 0, "ssh-keygen: \(run.errors)")
    return run.output
  }
}
