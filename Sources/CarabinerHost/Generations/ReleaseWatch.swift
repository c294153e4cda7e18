internal import CarabinerBridge
internal import CarabinerProvider
internal import CarabinerRelease
internal import Logging
internal import Synchronization

/// Checks the statements of the serving generation and the list of revocations: each minute, after each reload, and when a fleet has a new
/// list.
final class ReleaseWatch: Sendable {
  static let interval = Duration.seconds(60)

  private struct FaultKind: Hashable {
    let code: ReleaseError.Code
    let place: Revocations.Fault.Place

    init(_ fault: Revocations.Fault) { (code, place) = (fault.error.code, fault.place) }
  }

  /// The reports of earlier checks.
  private struct Memory {
    var expiry = ExpiryNotices()
    var revoked = DailyNotices<RevokedRelease>()
    /// Faults by kind and place. Their messages may contain the time, so they are not compared.
    var faults = DailyNotices<FaultKind>()
  }

  private let live: GenerationManager
  private let trust: TrustPolicy
  private let memory = Mutex(Memory())

  init(live: GenerationManager, trust: TrustPolicy) {
    self.live = live
    self.trust = trust
  }

  /// Checks now, at each interval, after each reload, and after each change of a fleet's list of revocations, until the task is cancelled.
  func run() async {
    let events = live.events.stream()
    await withDiscardingTaskGroup { group in
      group.addTask { [self] in for await _ in events { look() } }
      if let published = trust.revocations?.published {
        group.addTask { [self] in for await _ in published.changes { look() } }
      }
      group.addTask { [self] in repeat { look() } while (try? await Task.sleep(for: Self.interval)) != nil }
    }
  }

  /// Checks once.
  func look() {
    memory.withLock { memory in
      noteExpiry(&memory)
      guard let revocations = trust.revocations else { return }
      read(revocations, &memory)
      noteRevoked(&memory)
    }
  }

  private func noteExpiry(_ memory: inout Memory) {
    for text in memory.expiry.due(trust.statements(of: live.current), at: trust.time) {
      live.output.logger.warning("\(text)")
    }
  }

  private func read(_ revocations: Revocations, _ memory: inout Memory) {
    let faults = revocations.faults(readingBy: trust)
    let due = memory.faults.due(faults.map(FaultKind.init), at: trust.time)
    for fault in faults where due.contains(FaultKind(fault)) {
      live.output.logger.error(
        "reloads are refused because of the list of revocations, and all that was revoked before stays so: \(fault.error)")
    }
  }

  private func noteRevoked(_ memory: inout Memory) {
    var all: [RevokedRelease] = []
    for generation in live.serving {
      let revoked = trust.revoked(in: generation)
      for release in revoked where !all.contains(release) { all.append(release) }
      if trust.enforcesRevocation { generation.host.chain.withdraw(Set(revoked.compactMap(\.entry))) }
    }
    for revoked in memory.revoked.due(all, at: trust.time) {
      live.output.logger.critical(
        "a revoked file is in use: \(revoked.reason); \(effect(on: revoked)), so replace it and reload",
        metadata: ["file": "\(revoked.entry ?? "manifest")"])
    }
  }

  private func effect(on revoked: RevokedRelease) -> String {
    trust.enforcesRevocation && revoked.entry != nil ? "the plugin is switched off" : "it is still used"
  }
}

extension TrustPolicy {
  /// The statements about the files of a generation, and about the list of revocations of a fleet.
  func statements(of generation: Generation) -> [ReleaseStatement] {
    (generation.releases?.statements ?? []) + (revocations?.published?.statement.map { [$0] } ?? [])
  }

  /// The files of a generation that are revoked.
  func revoked(in generation: Generation) -> [RevokedRelease] {
    guard let revocations else { return [] }
    return generation.releases?.revoked(by: revocations.current, threshold: threshold) ?? []
  }
}
