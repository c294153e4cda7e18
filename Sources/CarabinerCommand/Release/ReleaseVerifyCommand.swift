internal import ArgumentParser
internal import CarabinerRelease
internal import CarabinerWire

/// `carabiner release verify`
struct ReleaseVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check a file and its sidecar, and print the key, the principal and the dates.",
    discussion: """
      The trust file is one of OpenSSH (allowed_signers) with principals KIND:NAME, for example:

      plugin:* namespaces="carabiner-release" ssh-ed25519 AAAA...
      """)

  @Argument(help: "The file.") var file: String
  @Option(name: .long, help: "The trust file: the keys, and the files that each may sign.") var trust: String
  @Option(name: .long, help: "How many different keys must have signed, from 1 to 4.") var trustThreshold = 1
  @Option(name: .long, help: "A list of revoked keys, files and serials.") var revoked: String?
  @Option(name: .long, help: "The sidecar (default: FILE.release).") var sidecar: String?
  @Option(name: .long, help: "The kind that the file must have (default: that of the sidecar).") var kind: ReleaseKind?
  @Option(name: .long, help: "The name that the file must have (default: that of the sidecar).") var name: String?
  @Option(name: .long, help: "text or json.") var format: ReleaseCommand.Format = .text

  func validate() throws {
    guard (1...ReleaseSidecar.maximumSignatures).contains(trustThreshold) else {
      throw ValidationError("--trust-threshold takes a number from 1 to \(ReleaseSidecar.maximumSignatures)")
    }
    if let name, ReleaseSubject(.plugin, name) == nil {
      throw ValidationError(
        "--name takes 1 to \(ReleaseSubject.maximumNameBytes) of a-z, 0-9 and -, not \(name.debugDescription)")
    }
  }

  func run() async throws {
    do throws(ReleaseError) {
      let release = try verified()
      switch format {
      case .text: Terminal.emit(text(release))
      case .json: Terminal.emit(String(decoding: json(release).serialized(pretty: true), as: UTF8.self))
      }
    } catch {
      Terminal.complain("error: \(error)")
      if format == .json {
        let report: JSONValue = [
          "file": .string(file), "ok": false, "code": .string(error.code.rawValue), "message": .string(error.message),
        ]
        Terminal.emit(String(decoding: report.serialized(pretty: true), as: UTF8.self))
      }
      throw ExitStatus.refused
    }
  }

  private func verified() throws(ReleaseError) -> VerifiedRelease {
    let trust = try TrustFile(at: trust)
    let revocations = if let revoked { try RevocationList(at: revoked) } else { RevocationList() }
    let identity = try ReleaseFileArgument.identity(of: file)
    let bytes = try ReleaseFile.sidecar(at: sidecar ?? file + ReleaseSidecar.suffix)
    let verifier = ReleaseVerifier(trust: trust, threshold: trustThreshold, revocations: revocations)
    return try verifier.verify(bytes, of: try subject(of: bytes), identity, at: .now, serials: SerialRecord())
  }

  /// The subject to expect. Without options it is that of the sidecar.
  private func subject(of sidecar: [UInt8]?) throws(ReleaseError) -> ReleaseSubject {
    guard let sidecar else {
      throw ReleaseError(
        .unsigned,
        "\(file) has no sidecar \(self.sidecar ?? file + ReleaseSidecar.suffix); make one with carabiner release statement")
    }
    let own = try ReleaseSidecar(parsing: sidecar).statement.subject
    return ReleaseSubject(kind ?? own.kind, name ?? own.name) ?? own
  }

  private func text(_ release: VerifiedRelease) -> String {
    let statement = release.statement
    let keys = release.signers.map { signer in
      let end = signer.validBefore.map { ", valid before \($0)" } ?? ""
      return "key        \(signer.key.fingerprint) \(signer.key.method.rawValue), line \(signer.line): \(signer.principals)\(end)"
    }
    let lines = [
      "\(file): ok", "principal  \(statement.subject)", "serial     \(statement.serial)", "sha256     \(statement.file.digest)",
      "issued     \(statement.issued)", "expires    \(statement.expires)",
    ]
    return (lines + keys).joined(separator: "\n")
  }

  private func json(_ release: VerifiedRelease) -> JSONValue {
    let statement = release.statement
    let keys = release.signers.map { signer -> JSONValue in
      [
        "fingerprint": .string(signer.key.fingerprint), "type": .string(signer.key.method.rawValue),
        "line": .number(JSONNumber(signer.line)), "principals": .string(signer.principals),
        "validBefore": signer.validBefore.map { .string($0.description) } ?? .null,
      ]
    }
    return [
      "file": .string(file), "ok": true, "principal": .string(statement.subject.description),
      "serial": .number(JSONNumber(statement.serial)), "sha256": .string(statement.file.digest),
      "size": .number(JSONNumber(statement.file.size)), "issued": .string(statement.issued.description),
      "expires": .string(statement.expires.description), "keys": .array(keys),
    ]
  }
}
