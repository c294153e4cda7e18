internal import CarabinerRelease
internal import CarabinerSources
internal import Synchronization

/// The list of revocations of a fleet, with a signed statement.
///
/// The list that was accepted last is valid until a newer one is accepted. This holds while the source does not answer, after its statement
/// has expired, and if its key in etcd was removed. The list is stored in the folder of `--state`, so it is valid after a restart too.
final class PublishedList: Sendable {
  private struct State {
    /// The list that was last accepted.
    var kept: KeptList?
    /// The list at the source, if its statement has expired. It is used in addition to ``kept``, and is not stored.
    var expired: KeptList?
    /// Whether the file was read.
    var isLoaded = false
    /// Whether ``kept`` is in the file.
    var isWritten = true
  }

  /// The parts of the state that other objects read without waiting for files.
  private struct Known {
    var list = RevocationList()
    var statement: ReleaseStatement?
  }

  private let source: RemoteManifest
  private let label: String
  private let file: KeptListFile?
  private let state = Mutex(State())
  private let known = Mutex(Known())

  /// - Parameter folder: The folder of `--state`; nil for none.
  /// - Returns: Nil for a source without such lists.
  init?(_ source: RemoteManifest, keptIn folder: String?) {
    guard source.revocations != nil else { return nil }
    self.source = source
    label = "\(source.label)/revoked"
    file = folder.map { KeptListFile(path: "\($0)/revoked") }
  }

  /// The entries that are in effect.
  var list: RevocationList { known.withLock(\.list) }

  /// The statement about the list that was last accepted; nil if there is none.
  var statement: ReleaseStatement? { known.withLock(\.statement) }

  /// The list that the source has now.
  var published: PublishedRevocations? { source.revocations }

  /// An element for each change at the source. The stream may be read by one task only.
  var changes: AsyncStream<Void> { source.revocationChanges }

  // MARK: Reading

  /// Reads the list that an earlier process has stored, unless it was read already.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be used. Without it, this process could accept an older list.
  func load() throws(ReleaseError) {
    try state.withLock { state throws(ReleaseError) in
      guard !state.isLoaded else { return }
      // The statement was verified before it was kept, in a folder that only this user can change.
      let kept = try file?.read()
      state.kept = kept.flatMap { $0.statement.subject == subject ? $0 : nil }
      state.isLoaded = true
      show(state)
    }
  }

  /// Reads the list that the source has now.
  ///
  /// - Parameter revoked: The list of `--revoked`, which may revoke the key that signed this one.
  /// - Throws: ``ReleaseError`` if it is not accepted. ``list`` keeps its entries then, and gets those of an expired list in addition.
  func read(by trust: TrustPolicy, except revoked: RevocationList) throws(ReleaseError) {
    try state.withLock { state throws(ReleaseError) in
      defer { show(state) }
      // Done even if the source has another list now, or none: a restart needs the list that is in effect.
      if !state.isWritten, let kept = state.kept { try? keep(kept, &state) }
      switch source.revocations {
      case .unknown, nil: return
      case .absent:
        guard let kept = state.kept else { return }
        throw ReleaseError(
          .unreadable,
          "\(label) was removed, and had the serial \(kept.statement.serial); publish it again, or to revoke nothing, an empty "
            + "list with a higher serial")
      case .list(let bytes, let sidecar)?:
        do throws(ReleaseError) {
          guard let sidecar else { throw ReleaseError(.unsigned, "it has no statement; run carabiner fleet revoke again") }
          try use(bytes, sidecar, by: trust, except: revoked, &state)
        } catch {
          throw ReleaseError(error.code, "\(label): \(error.message)")
        }
      }
    }
  }

  private func use(
    _ bytes: [UInt8], _ sidecar: [UInt8], by trust: TrustPolicy, except revoked: RevocationList, _ state: inout State
  ) throws(ReleaseError) {
    let subject = try ReleaseSubject(.revoked, ofFleet: source.label)
    var (serials, others) = (SerialRecord(), revoked)
    for earlier in [state.kept, state.expired].compactMap(\.self) {
      serials.keep(earlier.statement)
      // A stolen key that the last list revokes must not sign the next one. The list itself may revoke the key that signed it.
      if !earlier.has(bytes, sidecar) { others = others.union(earlier.list) }
    }
    // The list is parsed after it was verified.
    let verifier = ReleaseVerifier(trust: try TrustFile(at: trust.file), threshold: trust.threshold, revocations: others)
    do throws(ReleaseError) {
      _ = try verifier.verify(sidecar, of: subject, FileIdentity(of: bytes), at: trust.time, serials: serials)
    } catch {
      // Only the check of the expiry has failed. Its entries are used, because a statement that was not renewed must not end revocations.
      // It does not replace the last list, because it may be an old list that is replayed.
      if error.code == .expired, let list = try? KeptList(bytes: bytes, sidecar: sidecar),
        (try? serials.check(list.statement)) != nil
      {
        state.expired = list
      }
      throw error
    }
    try keep(try KeptList(bytes: bytes, sidecar: sidecar), &state)
    state.expired = nil
  }

  private func keep(_ list: KeptList, _ state: inout State) throws(ReleaseError) {
    if state.kept != list { (state.kept, state.isWritten) = (list, false) }
    guard !state.isWritten, let file else { return }
    // A process that takes over uses the same folder, and may have stored a newer list.
    if let other = try file.read(), other.statement.subject == subject, other.statement.serial > list.statement.serial {
      (state.kept, state.isWritten) = (other, true)
      var serials = SerialRecord()
      serials.keep(other.statement)
      return try serials.check(list.statement)
    }
    try file.write(list)
    state.isWritten = true
  }

  private func show(_ state: State) {
    let kept = state.kept?.list ?? RevocationList()
    let list = state.expired.map { kept.union($0.list) } ?? kept
    known.withLock { $0 = Known(list: list, statement: state.kept?.statement) }
  }

  // MARK: Forgetting

  /// Removes the list that was accepted last, so that an older one, or none, is accepted.
  ///
  /// - Returns: Whether a list with this subject was removed.
  /// - Throws: ``ReleaseError`` if the file cannot be removed.
  func forget(_ subject: ReleaseSubject) throws(ReleaseError) -> Bool {
    guard subject == self.subject else { return false }
    return try state.withLock { state throws(ReleaseError) in
      let wasKept = try file?.remove() ?? false
      defer {
        state = State(isLoaded: true)
        show(state)
      }
      return wasKept || state.kept != nil
    }
  }

  /// The subject of the list's statement. Its name is the one in the statements about the fleet's manifests.
  private var subject: ReleaseSubject? { try? ReleaseSubject(.revoked, ofFleet: source.label) }
}
