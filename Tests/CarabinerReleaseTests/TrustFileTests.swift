import CarabinerRelease
import Foundation
import TestTools
import Testing

@Suite("Trust files")
struct TrustFileTests {
  private func isRefused(_ text: String) throws -> Bool {
    try code { _ = try TrustFile(parsing: Array(text.utf8)) } == .invalidFile
  }

  @Test("comments, empty lines, options, key comments and several principals are read", .rule("signature.4"))
  func reading() throws {
    let text = """
      # the keys of the release team

      plugin:*,manifest:shop namespaces="carabiner-release",valid-after="20200101Z",valid-before="203001010000Z" \(SampleRelease.key) a comment
      \t*  \t \(SampleRelease.key)
      """
    let trust = try TrustFile(parsing: Array(text.utf8))
    #expect(trust.keys.map(\.line) == [3, 4])
    #expect(trust.keys.map(\.principals) == ["plugin:*,manifest:shop", "*"])
    #expect(trust.keys.map(\.validBefore?.description) == ["2030-01-01T00:00:00Z", nil])
  }

  @Test(
    "a line that is not understood is refused, with its number", .rule("signature.4"),
    arguments: [
      "plugin:* cert-authority KEY", "plugin:* cert-authority,namespaces=\"carabiner-release\" KEY",
      "plugin:* no-touch-required KEY",
      "plugin:* namespaces=carabiner-release KEY", "plugin:* namespaces KEY", "plugin:* namespaces=\"a KEY",
      "plugin:* namespaces=\"a\",namespaces=\"a\" KEY", "plugin:* namespaces=\"a\"x KEY", "plugin:* namespaces=\"a\\\"\" KEY",
      "plugin:* valid-before=\"20270101\" KEY", "plugin:* valid-before=\"2027-01-01\" KEY",
      "plugin:* valid-before=\"20270230Z\" KEY",
      "plugin:* valid-before=\"19700101Z\" KEY", "plugin:* valid-before=\"\" KEY", "plugin:* valid-after=\"202701011Z\" KEY",
      "plugin:* valid-after=\"20270101Z\",valid-before=\"20270101Z\" KEY", "plugin:*", "plugin:* ssh-ed25519", "plugin:* AAAA",
      "plugin:* ssh-ed25519 AAAA", "plugin:* ssh-ed25519 !!!!", "plugin:* ecdsa-sha2-nistp256 BLOB", "plugin:* ssh-rsa BLOB",
      "plugin:* sk-ssh-ed25519@openssh.com BLOB", "plugin:* ssh-ed25519-cert-v01@openssh.com BLOB", "plugin:* ssh-ed25519 BLOBA",
      "\"plugin:*\" KEY", "plugin:\u{e9} KEY", "plugin:* KEY\r", "plugin:* \u{0} KEY", "KEY",
      "a \(String(repeating: "a", count: 9000)) KEY",
    ])
  func refused(line: String) throws {
    let blob = try #require(SampleRelease.key.split(separator: " ").last)
    let text = line.replacing("KEY", with: SampleRelease.key).replacing("BLOB", with: blob)
    #expect(try isRefused("# comment\n\(text)\n"))
    do throws(ReleaseError) {
      _ = try TrustFile(parsing: Array("# comment\n\(text)\n".utf8), name: "trust")
    } catch {
      #expect(error.message.contains("line 2 of trust"), "\(error)")
    }
  }

  @Test("a file without keys, and one above 256 KiB, is refused", .rule("signature.4"))
  func sizes() throws {
    for text in ["", "\n\n", "# only a comment"] { #expect(try isRefused(text)) }
    let line = "plugin:* \(SampleRelease.key)\n"
    let count = (256 << 10) / line.utf8.count
    #expect(try !isRefused(String(repeating: line, count: count)))
    #expect(try isRefused(String(repeating: line, count: count + 1)))
  }

  /// Lines, a subject, and whether the key of the sample may sign for it at the time of the sample.
  private static let lines: [(line: String, subject: String, allows: Bool)] = [
    ("plugin:* KEY", "plugin:token-auth", true),
    ("plugin:* KEY", "manifest:token-auth", false),
    ("manifest:* KEY", "plugin:token-auth", false),
    ("plugin:token-auth KEY", "plugin:token-auth", true),
    ("plugin:token-aut KEY", "plugin:token-auth", false),
    ("plugin:token-auth KEY", "plugin:token-auth2", false),
    ("plugin:token-???? KEY", "plugin:token-auth", true),
    ("plugin:token-??? KEY", "plugin:token-auth", false),
    ("*:*-auth KEY", "plugin:token-auth", true),
    ("* KEY", "release:x", true),
    ("plugin:t*n-a*h KEY", "plugin:token-auth", true),
    ("plugin:*,!plugin:token-auth KEY", "plugin:token-auth", false),
    ("!plugin:token-auth,plugin:* KEY", "plugin:token-auth", false),
    ("plugin:*,!plugin:token-auth KEY", "plugin:noop", true),
    ("!plugin:noop KEY", "plugin:token-auth", false),
    ("manifest:a,plugin:noop KEY", "plugin:noop", true),
    ("Plugin:* KEY", "plugin:noop", false),
    ("plugin:* namespaces=\"carabiner-release\" KEY", "plugin:noop", true),
    ("plugin:* NAMESPACES=\"git,carabiner-*\" KEY", "plugin:noop", true),
    ("plugin:* namespaces=\"git\" KEY", "plugin:noop", false),
    ("plugin:* namespaces=\"\" KEY", "plugin:noop", false),
    ("plugin:* namespaces=\"*,!carabiner-release\" KEY", "plugin:noop", false),
    // The time of the sample is 2026-11-30T00:53:20Z.
    ("plugin:* valid-before=\"20261130005320Z\" KEY", "plugin:noop", true),
    ("plugin:* valid-before=\"20261130005319Z\" KEY", "plugin:noop", false),
    ("plugin:* valid-after=\"20261130005320Z\" KEY", "plugin:noop", true),
    ("plugin:* valid-after=\"20261130005321Z\" KEY", "plugin:noop", false),
    ("plugin:* valid-before=\"202611300053Z\" KEY", "plugin:noop", false),
    ("plugin:* valid-after=\"20261130Z\",valid-before=\"20261201Z\" KEY", "plugin:noop", true),
    ("plugin:* namespaces=\"git\" KEY\nplugin:noop KEY", "plugin:noop", true),
  ]

  @Test("patterns, namespaces and dates allow a key as in ssh-keygen", .rule("signature.4"), arguments: lines)
  func allowing(line: String, subject: String, allows: Bool) async throws {
    let text = line.replacing("KEY", with: SampleRelease.key) + "\n"
    let trust = try TrustFile(parsing: Array(text.utf8))
    let sidecar = try ReleaseSidecar(parsing: Array((SampleRelease.statement + SampleRelease.armor).utf8))
    let signature = try #require(sidecar.signatures.first)
    let found = trust.line(for: signature.key, try SampleRelease.subject(subject), at: SampleRelease.time)
    #expect((found != nil) == allows)

    let folder = try FixturePlugin.Folder()
    try Data(text.utf8).write(to: folder.file("trust"))
    try Data(SampleRelease.armor.utf8).write(to: folder.file("armor"))
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/env"),
      [
        "ssh-keygen", "-Y", "verify", "-f", folder.file("trust").path, "-I", subject, "-n", "carabiner-release", "-s",
        folder.file("armor").path, "-O", "verify-time=20261130005320Z",
      ], input: SampleRelease.statement)
    #expect((run.status == 0) == allows, "\(run.errors)")
  }

  @Test("a trust file that others could change is not read", .rule("signature.4"))
  func permissions() throws {
    let folder = try FixturePlugin.Folder()
    let path = folder.file("trust").path
    try Data("plugin:* \(SampleRelease.key)\n".utf8).write(to: URL(filePath: path))
    func read() throws -> ReleaseError.Code? {
      try code { _ = try ReleaseFile.trusted(path, maximumBytes: TrustFile.maximumBytes) }
    }
    func permit(_ mode: Int, _ path: String) throws {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    try permit(0o644, path)
    #expect(try read() == nil)
    for mode in [0o664, 0o646, 0o666] {
      try permit(mode, path)
      #expect(try read() == .unsafeFile)
    }
    try permit(0o600, path)
    try permit(0o777, folder.url.path)
    #expect(try read() == .unsafeFile)
    try permit(0o755, folder.url.path)
    #expect(try read() == nil)
    try FileManager.default.removeItem(atPath: path)
    #expect(try read() == .unreadable)
    #expect(try code { _ = try ReleaseFile.trusted(folder.url.path, maximumBytes: 10) } == .unreadable)
  }
}
