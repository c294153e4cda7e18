internal import CarabinerRelease

extension FuzzTarget {
  /// The first byte selects what the others are: a sidecar, the form of a signature, a trust file, revocations or serials.
  func checkRelease(_ bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    switch first % 5 {
    case 0: try checkSidecar(rest)
    case 1:
      guard let signature = try? SSHSignature(parsing: rest) else { return }
      _ = signature.isValid(of: [])
    case 2: try checkTrust(rest)
    case 3: _ = try? RevocationList(parsing: rest)
    default:
      guard let record = try? SerialRecord(parsing: rest) else { return }
      try require((try? SerialRecord(parsing: Array(record.text.utf8))) == record, "a record changes when it is written")
    }
  }

  private func checkSidecar(_ bytes: [UInt8]) throws {
    guard let sidecar = try? ReleaseSidecar(parsing: bytes) else { return }
    let text = sidecar.statement.text
    try require(bytes.starts(with: text.utf8), "a statement changes when it is written")
    try require((1...ReleaseSidecar.maximumSignatures).contains(sidecar.signatures.count), "the signatures are not counted")
    try require(sidecar.statement.expires > sidecar.statement.issued, "a statement expires before it is issued")
    // This key signed one statement, which the corpus has.
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8a3fo5bfLJ6cBH5dL0NBbUnpw43CsDzsc1MWdyHydk"
    let verifier = ReleaseVerifier(trust: try TrustFile(parsing: Array("* \(key)".utf8)))
    let release = try? verifier.verify(
      bytes, of: sidecar.statement.subject, sidecar.statement.file, at: sidecar.statement.issued, serials: SerialRecord())
    try require(
      release == nil || text.hasPrefix("carabiner-release 1\nkind plugin\nname token-auth\nserial 42\n"),
      "another statement is accepted")
  }

  private func checkTrust(_ bytes: [UInt8]) throws {
    guard let trust = try? TrustFile(parsing: bytes), let subject = ReleaseSubject(.plugin, "token-auth") else { return }
    try require(!trust.keys.isEmpty, "a file without keys is accepted")
    for key in trust.keys {
      let line = trust.line(for: key.key, subject, at: ReleaseTime(seconds: 1_796_000_000))
      try require(line == nil || line?.key == key.key, "a line of another key is found")
    }
  }
}
