internal import CarabinerRelease
internal import CarabinerSources
internal import Synchronization

/// The list of revocations of a fleet, with a signed statement.
///
/// The list that was last accepted counts until a newer one is accepted: also while the source is away, after its statement has expired,
/// and if the key was removed. It is kept in the folder of `--state`, so that a start does not forget it.
final class PublishedList: Sendable {
  private struct State {
    var kept: KeptList?
    /// Whether the file was read.
    var isLoaded = false
  }

  private let source: RemoteManifest
  private let label: String
  private let file: KeptListFile?
  private let state = Mutex(State())

  /// - Parameter folder: The folder of `--state`; nil for none.
  /// - Returns: Nil for a source without such lists.
  init?(_ source: RemoteManifest, keptIn folder: String?) {
    guard source.revocations != nil else { return nil }
    self.source = source
    label = "\(source.label)/revoked"
    file = folder.map { KeptListFile(path: "\($0)/revoked") }
  }

  /// The list that was last accepted; nil if there is none.
  var list: RevocationList? { state.withLock { $0.kept?.list } }

  /// The statement about ``list``.
  var statement: ReleaseStatement? { state.withLock { $0.kept?.statement } }

  /// An element for each change at the source. Read once.
  var changes: AsyncStream<Void> { source.revocationChanges }

  /// Reads the list that the source has now.
  ///
  /// - Parameter revoked: The list of `--revoked`, which may revoke the key that signed this one.
  /// - Throws: ``ReleaseError`` if it is not accepted. ``list`` stays then, but has the entries of an expired list too.
  func read(by trust: TrustPolicy, except revoked: RevocationList) throws(ReleaseError) {
    try state.withLock { state throws(ReleaseError) in
      if !state.isLoaded {
        // The statement was verified before it was kept, in a folder that only this user can change.
        let kept = try file?.read()
        state.kept = kept.flatMap { $0.statement.subject == subject ? $0 : nil }
        state.isLoaded = true
      }
      switch source.revocations {
      case .unknown, nil: return
      case .some(.none):
        guard let kept = state.kept else { return }
        throw ReleaseError(
          .unreadable,
          "\(label) was removed, and had the serial \(kept.statement.serial); publish it again, or to revoke nothing, an empty "
            + "list with a higher serial")
      case .list(let bytes, let sidecar)?:
        do throws(ReleaseError) {
          guard let sidecar else { throw ReleaseError(.unsigned, "it has no statement; run carabiner fleet revoke again") }
          try use(KeptList.Parts(bytes: bytes, sidecar: sidecar), by: trust, except: revoked, &state)
        } catch {
          throw ReleaseError(error.code, "\(label): \(error.message)")
        }
      }
    }
  }

  /// Forgets the list that was last accepted, so that an older one, or none, is accepted.
  ///
  /// - Returns: Whether the subject is that of the list, and there was one.
  /// - Throws: ``ReleaseError`` if the file cannot be removed.
  func forget(_ subject: ReleaseSubject) throws(ReleaseError) -> Bool {
    guard subject == self.subject else { return false }
    return try state.withLock { state throws(ReleaseError) in
      let wasKept = try file?.remove() ?? false
      defer { state = State(kept: nil, isLoaded: true) }
      return wasKept || state.kept != nil
    }
  }

  /// The subject of the list's statement: the name is that of the statements of the fleet's manifests.
  private var subject: ReleaseSubject? { ReleaseSubject(.revoked, ReleaseSubject.manifestName(path: source.label)) }

  private func use(
    _ parts: KeptList.Parts, by trust: TrustPolicy, except revoked: RevocationList, _ state: inout State
  ) throws(ReleaseError) {
    guard let subject else {
      throw ReleaseError(
        .signature,
        "no statement can have the name of this prefix; use one whose last part has 1 to \(ReleaseSubject.maximumNameBytes) of "
          + "a-z, 0-9 and -")
    }
    var (serials, others) = (SerialRecord(), revoked)
    if let kept = state.kept {
      serials.keep(kept.statement)
      // A stolen key that the last list revokes must not sign the next one. The list itself may revoke the key that signed it.
      if kept.parts != parts { others = others.union(kept.list) }
    }
    let verifier = ReleaseVerifier(trust: try TrustFile(at: trust.file), threshold: trust.threshold, revocations: others)
    do throws(ReleaseError) {
      _ = try verifier.verify(
        parts.sidecar, of: subject, FileIdentity(of: parts.bytes), at: trust.time, serials: serials)
    } catch {
      // All checks before that of the expiry have passed. Less must not be revoked because a statement was not renewed.
      guard error.code == .expired else { throw error }
      try serials.check(try ReleaseSidecar(parsing: parts.sidecar).statement)
      try keep(parts, &state)
      throw error
    }
    try keep(parts, &state)
  }

  private func keep(_ parts: KeptList.Parts, _ state: inout State) throws(ReleaseError) {
    guard state.kept?.parts != parts else { return }
    let kept = try KeptList(parts)
    state.kept = kept
    try file?.write(kept)
  }
}
