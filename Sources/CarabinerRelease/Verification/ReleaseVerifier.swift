/// Decides whether a file is accepted.
///
/// It reads no file and no clock: all that it decides on is passed in.
package struct ReleaseVerifier: Sendable {
  /// How far the clock of the publisher may be ahead.
  package static let maximumClockError = 300

  private let trust: TrustFile
  /// How many different keys must have signed.
  private let threshold: Int
  private let revocations: RevocationList

  /// - Parameter threshold: 1 to ``ReleaseSidecar/maximumSignatures``.
  package init(trust: TrustFile, threshold: Int = 1, revocations: RevocationList = RevocationList()) {
    self.trust = trust
    self.threshold = max(threshold, 1)
    self.revocations = revocations
  }

  /// Checks a file, in the order in which a reader can explain it: the form, the subject, the file, revocations, keys, signatures, dates
  /// and serial. The first failure is reported.
  ///
  /// - Parameters:
  ///   - sidecar: The bytes of the sidecar; nil if there is none.
  ///   - time: The time to check for. For a file that was kept as last good, the time when it was kept.
  /// - Throws: ``ReleaseError`` with the reason.
  package func verify(
    _ sidecar: [UInt8]?, of subject: ReleaseSubject, _ file: FileIdentity, at time: ReleaseTime, serials: SerialRecord
  ) throws(ReleaseError) -> VerifiedRelease {
    guard let sidecar else {
      throw ReleaseError(
        .unsigned, "\(subject) has no sidecar; sign a statement and put it beside the file as FILE\(ReleaseSidecar.suffix)")
    }
    let parsed = try ReleaseSidecar(parsing: sidecar)
    let statement = parsed.statement
    guard statement.subject == subject else {
      throw ReleaseError(
        .signature, "the sidecar is for \(statement.subject), not for \(subject); put that of this file beside it")
    }
    try checkFile(file, statement)
    let signers = try signers(parsed, at: time)
    guard
      parsed.signatures.allSatisfy({ signature in
        !signers.contains { $0.key == signature.key } || signature.isValid(of: parsed.signedBytes)
      })
    else {
      throw ReleaseError(
        .signature, "a signature of the sidecar of \(subject) is not one of its statement; sign the statement again")
    }
    try checkDates(statement, at: time)
    try serials.check(statement)
    return VerifiedRelease(statement: statement, signers: signers)
  }

  private func checkFile(_ file: FileIdentity, _ statement: ReleaseStatement) throws(ReleaseError) {
    let remedy = "put the signed file in place, or sign this one"
    guard file.size == statement.file.size else {
      throw ReleaseError(
        .pinMismatch,
        "the file of \(statement.subject) has \(file.size) bytes, and its statement says \(statement.file.size); \(remedy)")
    }
    guard file.digest == statement.file.digest else {
      throw ReleaseError(
        .pinMismatch,
        "the file of \(statement.subject) has the SHA-256 \(file.digest), and its statement says "
          + "\(statement.file.digest); \(remedy)")
    }
  }

  /// The lines of the trust file for the keys that count. A signature of another key is ignored, so a new key can sign beside an old
  /// one before each node trusts it.
  private func signers(_ sidecar: ReleaseSidecar, at time: ReleaseTime) throws(ReleaseError) -> [TrustedKey] {
    let subject = sidecar.statement.subject
    if let reason = revocations.reason(against: sidecar.statement) {
      throw ReleaseError(.revoked, "\(reason); use a version that is not revoked")
    }
    var keys: [SSHPublicKey] = []
    for signature in sidecar.signatures where !keys.contains(signature.key) { keys.append(signature.key) }
    let revoked = keys.filter(revocations.revokes)
    let signers = keys.filter { !revoked.contains($0) }.compactMap { trust.line(for: $0, subject, at: time) }
    guard signers.count < threshold else { return signers }
    let needed = threshold == 1 ? "one is needed" : "\(threshold) are needed"
    if let key = revoked.first {
      throw ReleaseError(
        .revoked,
        "the key \(key.fingerprint) that signed \(subject) is revoked, and \(signers.count) others of the trust file have "
          + "signed; \(needed), so sign with another key")
    }
    let names = keys.map(\.fingerprint).joined(separator: ", ")
    throw ReleaseError(
      .untrusted,
      "\(subject) is signed by \(names), and the trust file allows \(signers.count) of these keys to sign it at \(time); "
        + "\(needed), so sign with a key that it allows")
  }

  private func checkDates(_ statement: ReleaseStatement, at time: ReleaseTime) throws(ReleaseError) {
    guard statement.issued <= time.adding(seconds: Self.maximumClockError) else {
      throw ReleaseError(
        .notYetValid,
        "the statement of \(statement.subject) was issued at \(statement.issued), and it is \(time); check the clocks")
    }
    guard time < statement.expires else {
      throw ReleaseError(
        .expired,
        "the statement of \(statement.subject) expired at \(statement.expires), and it is \(time); sign it again with a later "
          + "time")
    }
  }
}
