import CarabinerDigest
import CarabinerRelease
import Foundation
import TestTools
import Testing

@Suite("Signatures of statements")
struct SignatureTests {
  private func isRefused(_ sidecar: String) throws -> Bool {
    try code { _ = try ReleaseSidecar(parsing: Array(sidecar.utf8)) } == .signature
  }

  private func verdict(_ statement: String, _ armors: [String], _ verifier: ReleaseVerifier) throws -> ReleaseError.Code? {
    let sidecar = Array((statement + armors.joined()).utf8)
    return try code {
      _ = try verifier.verify(
        sidecar, of: try SampleRelease.subject(), SampleRelease.file, at: SampleRelease.time, serials: SerialRecord())
    }
  }

  @Test(
    "the signature of the specification is valid for the statement and for no other byte", .rule("signature.2", "signature.3"))
  func sample() throws {
    let statement = Array(SampleRelease.statement.utf8)
    let sidecar = try ReleaseSidecar(parsing: Array((SampleRelease.statement + SampleRelease.armor).utf8))
    let signature = try #require(sidecar.signatures.first)
    #expect(sidecar.signatures.count == 1)
    #expect(signature.isValid(of: statement))
    #expect(signature.key.fingerprint == "SHA256:e1lZUzhAJ5LZSNS+xdWivpLrX30eW0wbbCk1UQT6kJA")
    for place in statement.indices {
      var other = statement
      other[place] ^= 1
      #expect(!signature.isValid(of: other))
    }
    #expect(!signature.isValid(of: statement + [0x0a]))
    #expect(!signature.isValid(of: statement.dropLast()))
  }

  @Test("the signed bytes are 109 with the known digest", .rule("signature.3"))
  func signedBytes() throws {
    let signature = try SSHSignature(parsing: try Self.blob())
    let bytes = signature.signedBytes(of: Array(SampleRelease.statement.utf8))
    #expect(bytes.count == 109)
    #expect(FileIdentity(of: bytes).digest.hasPrefix("c31d4a1c"))
    #expect(FileIdentity(of: bytes).digest.hasSuffix("266b"))
  }

  @Test("no changed bit and no shorter or longer form of a signature is valid, but for the reserved text", .rule("signature.3"))
  func bits() throws {
    let blob = try Self.blob()
    let statement = Array(SampleRelease.statement.utf8)
    let key = try SSHSignature(parsing: blob).key
    func isValid(_ bytes: [UInt8]) -> Bool {
      guard let signature = try? SSHSignature(parsing: bytes) else { return false }
      return signature.key == key && signature.isValid(of: statement)
    }
    #expect(isValid(blob))
    for bit in 0..<blob.count * 8 {
      var other = blob
      other[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!isValid(other), "bit \(bit)")
    }
    for length in blob.indices { #expect(!isValid(Array(blob[..<length]))) }
    #expect(!isValid(blob + [0]))
    #expect(!isValid([]))
    // OpenSSH ignores the reserved text too, which is not signed.
    let place = try #require(blob.firstRange(of: Array("carabiner-release".utf8))).upperBound
    #expect(isValid(blob[..<place] + [0, 0, 0, 1, 7] + blob[(place + 4)...]))
  }

  @Test(
    "keys of Ed25519 and P-256 and both hashes are accepted", .rule("signature.1"),
    arguments: [("ed25519", 0), ("ecdsa", 256)], ["sha512", "sha256"])
  func methods(type: (name: String, bits: Int), hash: String) async throws {
    let folder = try FixturePlugin.Folder()
    let key = try await SigningKey(type.name, bits: type.bits == 0 ? nil : type.bits, in: folder)
    let verifier = try SampleRelease.verifier("plugin:* \(key.publicKey)")
    for _ in 0..<5 {
      let armor = try await key.signature(of: SampleRelease.statement, hash: hash)
      #expect(try verdict(SampleRelease.statement, [armor], verifier) == nil)
      #expect(try verdict(SampleRelease.statement.replacing("42", with: "43"), [armor], verifier) == .signature)
    }
  }

  @Test(
    "other types of keys are refused, by signature and in a trust file", .rule("signature.1"),
    arguments: [("rsa", 2048), ("rsa", 4096), ("ecdsa", 384)])
  func otherMethods(type: (name: String, bits: Int)) async throws {
    let folder = try FixturePlugin.Folder()
    let key = try await SigningKey(type.name, bits: type.bits, in: folder)
    let armor = try await key.signature(of: SampleRelease.statement)
    #expect(try verdict(SampleRelease.statement, [armor], try SampleRelease.verifier()) == .signature)
    #expect(try verdict(SampleRelease.statement, [SampleRelease.armor, armor], try SampleRelease.verifier()) == .signature)
    #expect(try code { _ = try TrustFile(parsing: Array("plugin:* \(key.publicKey)".utf8)) } == .invalidFile)
  }

  @Test(
    "a signature of another namespace is refused", .rule("signature.1"),
    arguments: ["git", "file", "carabiner-release2", "Carabiner-Release"])
  func namespace(name: String) async throws {
    let folder = try FixturePlugin.Folder()
    let key = try await SigningKey(in: folder)
    let armor = try await key.signature(of: SampleRelease.statement, namespace: name)
    let verifier = try SampleRelease.verifier("plugin:* \(key.publicKey)")
    #expect(try verdict(SampleRelease.statement, [armor], verifier) == .signature)
  }

  @Test("a sidecar has 1 to 4 signatures and nothing else", .rule("signature.2"))
  func sidecar() throws {
    let (statement, armor) = (SampleRelease.statement, SampleRelease.armor)
    #expect(try isRefused(statement))
    for count in 1...4 { #expect(try !isRefused(statement + String(repeating: armor, count: count))) }
    #expect(try isRefused(statement + String(repeating: armor, count: 5)))
    #expect(try isRefused(armor))
    #expect(try isRefused(armor + statement))
    for other in [
      "\(statement)\n\(armor)", "\(statement)\(armor)\n", "\(statement)\(armor)x-a b\n", "\(statement)\(armor.dropLast())",
      "\(statement)\(armor.dropLast(2))", "\(statement) \(armor)", "\(statement)\(armor.replacing("SSH", with: "PGP"))",
      "\(statement)\(armor.replacing("=", with: ""))", "\(statement)\(armor.replacing("AAA", with: "A*A"))",
      "\(statement)\(armor.replacing("\n", with: "\r\n"))", "",
    ] {
      #expect(try isRefused(other), "\(other)")
    }
  }

  @Test("4 MiB of armor, and of anything else, are refused without reading a signature", .rule("signature.11"))
  func largeSidecar() throws {
    let body = String(repeating: String(repeating: "A", count: 70) + "\n", count: 60_000)
    let armor = "-----BEGIN SSH SIGNATURE-----\n\(body)-----END SSH SIGNATURE-----\n"
    #expect(try isRefused(SampleRelease.statement + armor))
    #expect(try isRefused(String(repeating: SampleRelease.armor, count: 10_000)))
    #expect(try isRefused(String(repeating: "x", count: 4 << 20)))
    // A single armor below the limit of the sidecar is above that of a signature.
    #expect(
      try isRefused(
        "\(SampleRelease.statement)-----BEGIN SSH SIGNATURE-----\n\(body.prefix(8000))\n-----END SSH SIGNATURE-----\n"))
  }

  private static func blob() throws -> [UInt8] {
    let lines = SampleRelease.armor.split(separator: "\n").dropFirst().dropLast()
    return [UInt8](try #require(Data(base64Encoded: lines.joined())))
  }
}
