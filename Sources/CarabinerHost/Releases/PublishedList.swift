internal import CarabinerRelease
internal import CarabinerSources
internal import Synchronization

/// The list of revocations of a fleet, with a signed statement.
///
/// The list that was last accepted counts until a newer one is accepted: also while the source is away, after its statement has expired,
/// and if the key was removed. It is kept in the folder of `--state`, so that a start does not forget it.
final class PublishedList: Sendable {
  private struct State {
    /// The list that was last accepted.
    var kept: KeptList?
    /// The list of an expired statement that the source has. It counts beside ``kept``, and is not kept.
    var expired: KeptList?
    /// Whether the file was read.
    var isLoaded = false
    /// Whether the file has ``kept``.
    var isWritten = true
  }

  /// The parts of the state that others read. They do not wait for files.
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

  /// The entries that count.
  var list: RevocationList { known.withLock(\.list) }

  /// The statement about the list that was last accepted; nil if there is none.
  var statement: ReleaseStatement? { known.withLock(\.statement) }

  /// The list that the source has now.
  var published: PublishedRevocations? { source.revocations }

  /// An element for each change at the source. Read once.
  var changes: AsyncStream<Void> { source.revocationChanges }

  // MARK: Reading

  /// Reads the list that was kept by an earlier process, if that was not done yet.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be used. Without it, a list that it replaced would count again.
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
  /// - Throws: ``ReleaseError`` if it is not accepted. ``list`` loses nothing then. The entries of an expired list are added.
  func read(by trust: TrustPolicy, except revoked: RevocationList) throws(ReleaseError) {
    try state.withLock { state throws(ReleaseError) in
      defer { show(state) }
      // Also if the source has another one, or none, now: the list that counts is needed after a start.
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
      // All checks before that of the expiry have passed. Less must not be revoked because a statement was not renewed, and an old list
      // that is replayed must not replace the last one.
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
    // A process that takes over has the same folder, and may be ahead.
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

  /// Forgets the list that was last accepted, so that an older one, or none, is accepted.
  ///
  /// - Returns: Whether the subject is that of the list, and there was one.
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

  /// The subject of the list's statement: the name is that of the statements of the fleet's manifests.
  private var subject: ReleaseSubject? { try? ReleaseSubject(.revoked, ofFleet: source.label) }
}
