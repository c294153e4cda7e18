import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Files are signed with the real ssh-keygen.
@Suite("carabiner release")
struct ReleaseCommandTests {
  /// A folder with a file, a key, and a trust file for it.
  private struct Site {
    let folder: FixturePlugin.Folder
    var file: String { folder.file("p.so").path }
    var trust: String { folder.file("trust").path }

    init() async throws {
      folder = try FixturePlugin.Folder()
      try Data("hello\n".utf8).write(to: folder.file("p.so"))
      try await makeKey("key")
      try trusting("plugin:*", ["key"])
    }

    func makeKey(_ name: String) async throws {
      try await keygen(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder.file(name).path])
    }

    func trusting(_ principals: String, _ keys: [String]) throws {
      let lines = try keys.map { "\(principals) \(try String(contentsOf: folder.file("\($0).pub"), encoding: .utf8))" }
      try Data(lines.joined().utf8).write(to: folder.file("trust"))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: trust)
    }

    /// Makes the sidecar as the help says.
    func sign(_ statement: String, with keys: [String] = ["key"]) async throws {
      var sidecar = statement
      for key in keys {
        sidecar += try await keygen(
          ["-q", "-Y", "sign", "-f", folder.file(key).path, "-n", "carabiner-release"], input: statement)
      }
      try Data(sidecar.utf8).write(to: URL(filePath: "\(file).release"))
    }

    func statement(_ arguments: [String] = []) async throws -> String {
      let run = try await CommandRun(
        ["release", "statement", file, "--kind", "plugin", "--name", "token-auth", "--serial", "42"] + arguments)
      #expect(run.status == 0, "\(run.errors)")
      return run.output
    }

    func verify(_ arguments: [String] = []) async throws -> CommandRun {
      try await CommandRun(["release", "verify", file, "--trust", trust] + arguments)
    }

    @discardableResult
    func keygen(_ arguments: [String], input: String = "") async throws -> String {
      let run = try await ToolRun(URL(filePath: "/usr/bin/env"), ["ssh-keygen"] + arguments, input: input)
      try #require(run.status == 0, "ssh-keygen: \(run.errors)")
      return run.output
    }
  }

  @Test(
    "a statement has the bytes of the specification, and is valid for 90 days from now without options", .rule("signature.10"))
  func statement() async throws {
    let site = try await Site()
    let statement = try await site.statement(["--issued", "2026-11-22T00:00:00Z", "--expires", "2027-02-20T00:00:00Z"])
    #expect(
      statement == """
        carabiner-release 1
        kind plugin
        name token-auth
        serial 42
        sha256 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
        size 6
        issued 2026-11-22T00:00:00Z
        expires 2027-02-20T00:00:00Z

        """)
    #expect(try await site.statement(["--issued", "2026-11-22T00:00:00Z"]) == statement)
    #expect(
      try await site.statement(["--issued", "2026-11-22T00:00:00Z", "--expires", "36h"]).hasSuffix(
        "expires 2026-11-23T12:00:00Z\n"))
    let own = try await site.statement()
    let dates = own.split(separator: "\n").suffix(2).compactMap { $0.split(separator: " ").last }.map(String.init)
    let times = dates.compactMap { try? Date($0, strategy: .iso8601) }
    try #require(times.count == 2)
    #expect(abs(times[0].timeIntervalSinceNow) < 600)
    #expect(times[1].timeIntervalSince(times[0]) == 90 * 86_400)
  }

  @Test("a signed file is accepted, with the key, the principal and the dates", .rule("signature.10"))
  func accepted() async throws {
    let site = try await Site()
    try await site.sign(try await site.statement())
    let run = try await site.verify()
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.hasPrefix("\(site.file): ok\nprincipal  plugin:token-auth\nserial     42\n"))
    let fingerprint = try await site.keygen(["-l", "-f", site.folder.file("key.pub").path]).split(separator: " ")[1]
    #expect(run.output.contains("key        \(fingerprint) ssh-ed25519, line 1: plugin:*\n"))
    let json = try JSONValue(parsing: try await site.verify(["--format", "json"]).output)
    #expect(json["ok"]?.bool == true)
    #expect(json["principal"]?.string == "plugin:token-auth")
    #expect(json["keys"]?[0]?["fingerprint"]?.string == String(fingerprint))
    #expect(json["expires"]?.string?.hasSuffix("Z") == true)
    // ssh-keygen has the same verdict with the same trust file.
    let statement = try await site.statement()
    try await site.sign(statement)
    let sidecar = try String(contentsOfFile: "\(site.file).release", encoding: .utf8)
    try Data(sidecar.dropFirst(statement.count).utf8).write(to: site.folder.file("armor"))
    try await site.keygen(
      [
        "-Y", "verify", "-f", site.trust, "-I", "plugin:token-auth", "-n", "carabiner-release", "-s",
        site.folder.file("armor").path,
      ],
      input: statement)
  }

  @Test("a file that is not accepted ends with 3, and the reason is on standard error and in the report", .rule("signature.10"))
  func refused() async throws {
    let site = try await Site()
    try await site.makeKey("other")
    func expect(_ code: String, _ arguments: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) async throws {
      let run = try await site.verify(arguments)
      #expect(run.status == 3, sourceLocation: sourceLocation)
      #expect(run.errors.contains("[\(code)]"), "\(run.errors)", sourceLocation: sourceLocation)
      #expect(run.output.isEmpty, sourceLocation: sourceLocation)
      let json = try JSONValue(parsing: try await site.verify(arguments + ["--format", "json"]).output)
      #expect(json["ok"]?.bool == false, sourceLocation: sourceLocation)
      #expect(json["code"]?.string == code, sourceLocation: sourceLocation)
    }
    try await expect("unsigned")
    let statement = try await site.statement()
    try await site.sign(statement, with: ["other"])
    try await expect("untrusted")
    try await site.sign(statement)
    #expect(try await site.verify().status == 0)
    try await expect("untrusted", ["--trust-threshold", "2"])
    try await expect("signature", ["--name", "noop"])
    try await expect("signature", ["--kind", "manifest"])
    try await expect("unreadable", ["--trust", "\(site.trust).missing"])
    try Data("sha256 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\n".utf8).write(
      to: site.folder.file("revoked"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: site.folder.file("revoked").path)
    try await expect("revoked", ["--revoked", site.folder.file("revoked").path])
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: site.trust)
    try await expect("unsafeFile")
    try site.trusting("manifest:*", ["key"])
    try await expect("untrusted")
    try site.trusting("plugin:*", ["key"])
    try Data("hellO\n".utf8).write(to: URL(filePath: site.file))
    try await expect("pinMismatch")
    try Data("hello\n".utf8).write(to: URL(filePath: site.file))
    try await site.sign(try await site.statement(["--issued", "2020-01-01T00:00:00Z", "--expires", "1h"]))
    try await expect("expired")
    try await site.sign(try await site.statement(["--issued", "9000-01-01T00:00:00Z"]))
    try await expect("notYetValid")
  }

  @Test("two keys reach a threshold of two", .rule("signature.10"))
  func threshold() async throws {
    let site = try await Site()
    try await site.makeKey("other")
    try site.trusting("plugin:token-*", ["key", "other"])
    try await site.sign(try await site.statement(), with: ["key", "other"])
    let run = try await site.verify(["--trust-threshold", "2"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("line 1") && run.output.contains("line 2"))
  }

  @Test(
    "wrong options end with 2", .rule("signature.10"),
    arguments: [
      ["--kind", "patch"], ["--name", "Token"], ["--serial", "0"], ["--serial", "x"], ["--expires", "90"], ["--expires", "0d"],
      ["--expires", "-1d"], ["--expires", "+1d"], ["--expires", "99999d"], ["--expires", ""], ["--issued", "2026-11-22"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await CommandRun(
      ["release", "statement", "p.so", "--kind", "plugin", "--name", "a", "--serial", "1"] + arguments)
    #expect(run.status == 2, "\(run.errors)")
  }

  @Test("a missing file ends with 3, and a threshold outside of 1 to 4 with 2", .rule("signature.10"))
  func missing() async throws {
    let site = try await Site()
    let run = try await CommandRun(
      ["release", "statement", "\(site.file).missing", "--kind", "plugin", "--name", "a", "--serial", "1"])
    #expect(run.status == 3)
    #expect(run.errors.contains("[unreadable]"))
    for threshold in ["0", "5"] { #expect(try await site.verify(["--trust-threshold", threshold]).status == 2) }
  }
}
