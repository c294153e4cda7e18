import CarabinerRelease
import Foundation
import TestTools
import Testing

@Suite("Verification of releases")
struct VerificationTests {
  private static let sample = Array((SampleRelease.statement + SampleRelease.armor).utf8)

  /// A sidecar that the keys have signed.
  private func sidecar(_ statement: ReleaseStatement, _ keys: [SigningKey]) async throws -> [UInt8] {
    var text = statement.text
    for key in keys { text += try await key.signature(of: statement.text) }
    return Array(text.utf8)
  }

  private func verdict(
    _ sidecar: [UInt8]?, _ verifier: ReleaseVerifier, subject: String = "plugin:token-auth",
    file: FileIdentity = SampleRelease.file, at time: ReleaseTime = SampleRelease.time, serials: SerialRecord = SerialRecord()
  ) throws -> ReleaseError.Code? {
    try code { _ = try verifier.verify(sidecar, of: try SampleRelease.subject(subject), file, at: time, serials: serials) }
  }

  @Test("a file with a good sidecar is accepted, with the key and the line that allows it", .rule("signature.5"))
  func accepted() throws {
    let release = try SampleRelease.verifier("# team\nplugin:token-* \(SampleRelease.key) a").verify(
      Self.sample, of: try SampleRelease.subject(), SampleRelease.file, at: SampleRelease.time, serials: SerialRecord())
    #expect(release.statement.serial == 42)
    #expect(release.signers.map(\.line) == [2])
    #expect(release.signers.map(\.principals) == ["plugin:token-*"])
  }

  @Test("no sidecar, another kind or name, and a malformed sidecar", .rule("signature.5"))
  func form() throws {
    let verifier = try SampleRelease.verifier("* \(SampleRelease.key)")
    #expect(try verdict(nil, verifier) == .unsigned)
    #expect(try verdict([], verifier) == .signature)
    #expect(try verdict(Self.sample, verifier, subject: "plugin:noop") == .signature)
    #expect(try verdict(Self.sample, verifier, subject: "manifest:token-auth") == .signature)
    #expect(try verdict(Self.sample, verifier) == nil)
  }

  @Test("another file is a mismatch, whatever is wrong with keys and dates", .rule("signature.5"))
  func mismatch() throws {
    let verifier = try SampleRelease.verifier("release:* \(SampleRelease.key)", revoked: "sha256 \(SampleRelease.file.digest)")
    for bytes in ["hello", "hellO\n", "hello\n\n", ""] {
      #expect(
        try verdict(Self.sample, verifier, file: FileIdentity(of: Array(bytes.utf8)), at: ReleaseTime(seconds: 0)) == .pinMismatch
      )
    }
    let other = FileIdentity(size: 7, digest: SampleRelease.file.digest)
    #expect(try verdict(Self.sample, verifier, file: other) == .pinMismatch)
  }

  @Test("each failure is reported before all that come after it", .rule("signature.5"))
  func order() throws {
    // A wrong signature, expired, and a downgrade; and more and more before it.
    let statement = try SampleRelease.statement(serial: 1, expires: SampleRelease.time.adding(seconds: -1))
    let sidecar = Array((statement.text + SampleRelease.armor).utf8)
    var serials = SerialRecord()
    serials.keep(try SampleRelease.statement(serial: 2))
    let trusted = "plugin:* \(SampleRelease.key)"
    func found(_ lines: String, revoked: String = "", file: FileIdentity = SampleRelease.file) throws -> ReleaseError.Code? {
      try verdict(sidecar, try SampleRelease.verifier(lines, revoked: revoked), file: file, serials: serials)
    }
    #expect(try found(trusted) == .signature)
    #expect(try found("manifest:* \(SampleRelease.key)") == .untrusted)
    let revoked = "serials-below plugin:token-auth 2"
    #expect(try found("manifest:* \(SampleRelease.key)", revoked: revoked) == .revoked)
    let other = FileIdentity(size: 1, digest: SampleRelease.file.digest)
    #expect(try found("manifest:* \(SampleRelease.key)", revoked: revoked, file: other) == .pinMismatch)
  }

  @Test("expiry is reported before a downgrade, and a time in the future before both", .rule("signature.5"))
  func datesBeforeSerial() async throws {
    let folder = try FixturePlugin.Folder()
    let key = try await SigningKey(in: folder)
    let verifier = try SampleRelease.verifier("plugin:* \(key.publicKey)")
    var serials = SerialRecord()
    serials.keep(try SampleRelease.statement(serial: 2))
    let statement = try SampleRelease.statement(serial: 1)
    let sidecar = try await sidecar(statement, [key])
    #expect(try verdict(sidecar, verifier, serials: serials) == .downgrade)
    #expect(try verdict(sidecar, verifier, at: statement.expires, serials: serials) == .expired)
    #expect(try verdict(sidecar, verifier, at: statement.issued.adding(seconds: -301), serials: serials) == .notYetValid)
  }

  @Test("dates are exact to the second: issued with 5 minutes for clocks, expires without", .rule("signature.5", "signature.11"))
  func dates() async throws {
    let folder = try FixturePlugin.Folder()
    let key = try await SigningKey(in: folder)
    let verifier = try SampleRelease.verifier("plugin:* \(key.publicKey)")
    let statement = try SampleRelease.statement()
    let sidecar = try await sidecar(statement, [key])
    for (time, expected) in [
      (statement.issued.adding(seconds: -301), ReleaseError.Code.notYetValid), (statement.issued.adding(seconds: -300), nil),
      (statement.issued, nil), (statement.expires.adding(seconds: -1), nil), (statement.expires, .expired),
      (statement.expires.adding(seconds: 1), .expired),
    ] {
      #expect(try verdict(sidecar, verifier, at: time) == expected, "\(time)")
    }
  }

  @Test("An expired statement is accepted for the time at which its file was kept")
  func kept() async throws {
    let folder = try FixturePlugin.Folder()
    let key = try await SigningKey(in: folder)
    let verifier = try SampleRelease.verifier("plugin:* valid-before=\"20270101Z\" \(key.publicKey)")
    let sidecar = try await sidecar(try SampleRelease.statement(), [key])
    #expect(try verdict(sidecar, verifier, at: SampleRelease.time.adding(seconds: 2000)) == .expired)
    #expect(try verdict(sidecar, verifier, at: SampleRelease.time) == nil)
  }

  @Test("a key for plugins is not one for manifests, and an expired or unknown key is none", .rule("signature.4"))
  func untrusted() throws {
    #expect(try verdict(Self.sample, try SampleRelease.verifier("manifest:* \(SampleRelease.key)")) == .untrusted)
    #expect(
      try verdict(Self.sample, try SampleRelease.verifier("plugin:* namespaces=\"git\" \(SampleRelease.key)")) == .untrusted)
    #expect(
      try verdict(Self.sample, try SampleRelease.verifier("plugin:* valid-before=\"20261129Z\" \(SampleRelease.key)"))
        == .untrusted)
  }

  @Test(
    "a threshold counts different keys that are trusted, and each of their signatures must be valid",
    .rule("signature.4", "signature.11"))
  func threshold() async throws {
    let folder = try FixturePlugin.Folder()
    let (one, two) = (try await SigningKey(in: folder), try await SigningKey("ecdsa", bits: 256, in: folder))
    let stranger = try await SigningKey(in: folder)
    let lines = "plugin:* \(one.publicKey)\nplugin:* \(two.publicKey)"
    let verifier = try SampleRelease.verifier(lines, threshold: 2)
    let statement = try SampleRelease.statement()
    #expect(try verdict(try await sidecar(statement, [one, two]), verifier) == nil)
    #expect(try verdict(try await sidecar(statement, [stranger, two, one]), verifier) == nil)
    #expect(try verdict(try await sidecar(statement, [one]), verifier) == .untrusted)
    #expect(try verdict(try await sidecar(statement, [one, one]), verifier) == .untrusted)
    #expect(try verdict(try await sidecar(statement, [one, stranger]), verifier) == .untrusted)
    #expect(try verdict(try await sidecar(statement, [one, two]), try SampleRelease.verifier(lines, threshold: 3)) == .untrusted)
    // The signature of the second key is one of another statement.
    let other = try await two.signature(of: try SampleRelease.statement(serial: 43).text)
    let bad = Array((statement.text + (try await one.signature(of: statement.text)) + other).utf8)
    #expect(try verdict(bad, verifier) == .signature)
    #expect(try verdict(bad, try SampleRelease.verifier(lines)) == .signature)
  }

  @Test("a file that the old and the new key signed is accepted before, during and after the rotation", .rule("signature.9"))
  func rotation() async throws {
    let folder = try FixturePlugin.Folder()
    let (old, new) = (try await SigningKey(in: folder), try await SigningKey(in: folder))
    let both = try await sidecar(try SampleRelease.statement(), [old, new])
    let onlyOld = try await sidecar(try SampleRelease.statement(), [old])
    let onlyNew = try await sidecar(try SampleRelease.statement(), [new])
    let before = try SampleRelease.verifier("plugin:* \(old.publicKey)")
    let during = try SampleRelease.verifier("plugin:* \(old.publicKey)\nplugin:* \(new.publicKey)")
    let after = try SampleRelease.verifier("plugin:* \(new.publicKey)")
    for verifier in [before, during, after] { #expect(try verdict(both, verifier) == nil) }
    #expect(try verdict(onlyOld, during) == nil)
    #expect(try verdict(onlyOld, after) == .untrusted)
    #expect(try verdict(onlyNew, before) == .untrusted)
  }

  @Test("Revoked files, serials and keys are refused, and a key that is not revoked still counts")
  func revocation() async throws {
    let folder = try FixturePlugin.Folder()
    let (one, two) = (try await SigningKey(in: folder), try await SigningKey(in: folder))
    let lines = "plugin:* \(one.publicKey)\nplugin:* \(two.publicKey)"
    let both = try await sidecar(try SampleRelease.statement(), [one, two])
    let single = try await sidecar(try SampleRelease.statement(), [one])
    func found(_ revoked: String, _ sidecar: [UInt8], threshold: Int = 1) throws -> ReleaseError.Code? {
      try verdict(sidecar, try SampleRelease.verifier(lines, threshold: threshold, revoked: revoked))
    }
    #expect(try found("sha256 \(SampleRelease.file.digest)", both) == .revoked)
    #expect(try found("serials-below plugin:token-auth 43", both) == .revoked)
    #expect(try found("serials-below plugin:token-auth 42", both) == nil)
    #expect(try found("serials-below manifest:token-auth 43", both) == nil)
    let key = "key \(try await one.fingerprint())"
    #expect(try found(key, single) == .revoked)
    #expect(try found(key, both) == nil)
    #expect(try found(key, both, threshold: 2) == .revoked)
    #expect(try found("\(key)\nkey \(try await two.fingerprint())", both) == .revoked)
  }
}
