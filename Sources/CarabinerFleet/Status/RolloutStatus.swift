/// The reports and notes of all nodes about a candidate: the keys under `nodes/` and `taken/` (`fleet.12`).
///
/// The reports are kept in the order of the ranks. A query reads each report at most once.
package struct RolloutStatus: Sendable {
  private struct Entry: Sendable {
    let rank: NodeRank
    var report: NodeReport
  }

  package let candidate: CandidateID
  /// The nodes that are alive and not draining, by rank.
  private var entries: [Entry] = []
  /// How many nodes serve the candidate.
  package private(set) var serving = 0
  private var marks: [String: TrialMark] = [:]
  private var draining: Set<String> = []
  /// The nodes that try the candidate and are not alive.
  package private(set) var orphans: Set<String> = []
  /// The nodes that failed, with their reasons.
  package private(set) var failures: [String: String] = [:]

  /// The status that the keys in the store give.
  package init(_ candidate: CandidateID, reports: [NodeRank: NodeReport] = [:], marks: [NodeRank: TrialMark] = [:]) {
    self.candidate = candidate
    entries = reports.compactMap { $0.value.state == .draining ? nil : Entry(rank: $0.key, report: $0.value) }
    entries.sort { $0.rank < $1.rank }
    draining = Set(reports.compactMap { $0.value.state == .draining ? $0.key.name : nil })
    serving = entries.count { $0.report.serves(candidate) }
    for (rank, mark) in marks { note(mark, of: rank) }
  }

  /// The number of nodes that are alive and not draining.
  package var count: Int { entries.count }

  /// The note of a node about the candidate; nil if there is none.
  package func mark(of name: String) -> TrialMark? { marks[name] }

  /// Whether a node is alive and not draining.
  package func has(_ rank: NodeRank) -> Bool {
    let index = index(of: rank)
    return index < entries.count && entries[index].rank == rank
  }

  /// The place of a node in the order of ranks; nil if there are fewer nodes.
  ///
  /// - Parameter number: The number of the node in that order, from 1 on.
  package func place(ofNode number: Int) -> UInt64? {
    entries.indices.contains(number - 1) ? entries[number - 1].rank.place : nil
  }

  /// The number of nodes of a stage.
  package func count(in stage: RolloutStage) -> Int { firstIndex { !stage.includes($0) } }

  /// Whether at least 99 % of a stage's nodes have ended their trials, and one of the fleet serves the candidate.
  ///
  /// Among thousands of nodes there are always some that have just started.
  package func isSettled(_ stage: RolloutStage) -> Bool {
    let count = count(in: stage)
    guard count > 0, serving > 0 else { return false }
    return entries[..<count].count { !$0.report.isSettled(candidate) } <= count / 100
  }

  // MARK: Changes

  /// Sets the report of a node.
  ///
  /// - Parameter report: Nil if its key is gone.
  package mutating func note(_ report: NodeReport?, of rank: NodeRank) {
    let index = index(of: rank)
    let isKnown = index < entries.count && entries[index].rank == rank
    if isKnown, entries[index].report.serves(candidate) { serving -= 1 }
    if let report, report.state != .draining {
      if report.serves(candidate) { serving += 1 }
      if isKnown {
        entries[index].report = report
      } else {
        entries.insert(Entry(rank: rank, report: report), at: index)
      }
    } else if isKnown {
      entries.remove(at: index)
    }
    if report?.state == .draining { draining.insert(rank.name) } else { draining.remove(rank.name) }
    findOrphan(rank)
  }

  /// Sets the note of a node under `taken/`.
  ///
  /// - Parameter mark: Nil if the key is gone.
  package mutating func note(_ mark: TrialMark?, of rank: NodeRank) {
    marks[rank.name] = mark
    if case .failed(let reason) = mark { failures[rank.name] = reason } else { failures[rank.name] = nil }
    findOrphan(rank)
  }

  private mutating func findOrphan(_ rank: NodeRank) {
    let isAlive = has(rank) || draining.contains(rank.name)
    if case .trying = marks[rank.name], !isAlive { orphans.insert(rank.name) } else { orphans.remove(rank.name) }
  }

  /// The first entry that is not before a rank.
  private func index(of rank: NodeRank) -> Int { firstIndex { !($0 < rank) } }

  /// The first entry whose rank has a property, which all later ones have too.
  private func firstIndex(_ property: (NodeRank) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if property(entries[middle].rank) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
