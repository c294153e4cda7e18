import CarabinerFleet
import TestTools
import Testing

@Suite("Changes of a fleet's keys")
struct FleetChangeTests {
  private let keys = FleetKeys(prefix: "p")
  private let stable = FleetManifest(Array("stable".utf8), release: Array("stable's".utf8))
  private let candidate = FleetManifest(Array("candidate".utf8), release: Array("candidate's".utf8))
  private let next = FleetManifest(Array("next".utf8))

  /// A store in memory, which applies changes as etcd does.
  private final class Store {
    let keys: FleetKeys
    var entries: [String: FleetState.Entry] = [:]
    var revision: Int64 = 1

    init(keys: FleetKeys) { self.keys = keys }

    var state: FleetState { FleetState(keys, entries.values, at: revision) }

    func put(_ key: FleetKey, _ value: [UInt8]) { put(keys.name(key), value) }

    private func put(_ name: String, _ value: [UInt8]) {
      revision += 1
      entries[name] = FleetState.Entry(name, value, at: revision)
    }

    /// Nil if a condition did not hold.
    func make(_ change: FleetChange) -> Bool {
      guard change.conditions.allSatisfy({ entries[$0.key]?.revision ?? 0 == $0.value }) else { return false }
      #expect(change.steps.count <= 128)
      var touched: Set<String> = []
      for step in change.steps {
        switch step {
        case .put(let name, let value):
          // etcd refuses a transaction that changes a key twice.
          #expect(touched.insert(name).inserted)
          put(name, value)
        case .delete(let name):
          #expect(touched.insert(name).inserted)
          entries[name] = nil
        case .deleteAll(let prefix): entries = entries.filter { !$0.key.hasPrefix(prefix) }
        }
      }
      return true
    }
  }

  private func store(
    stable: Bool = true, candidate hasCandidate: Bool = true, halted: Bool = false, nodes: Int = 3
  ) throws -> Store {
    let store = Store(keys: keys)
    for index in 0..<nodes {
      store.put(.node(try node(index)), NodeRecord(version: "1", state: .serving, serving: self.stable.id, since: 0).bytes)
    }
    if stable {
      store.put(.stable, self.stable.bytes)
      store.put(.stableRelease, self.stable.release ?? [])
    }
    if hasCandidate {
      let push = try store.state.push(candidate, .standard, isReplacing: false)
      #expect(store.make(push.change))
    }
    if halted {
      let halt = try #require(try store.state.halted(RolloutHalt(by: .operator, reason: "bad")))
      #expect(store.make(halt))
    }
    return store
  }

  private func node(_ index: Int) throws -> NodeName { try #require(NodeName("node-\(index)")) }

  private func refusal(_ code: FleetError.Code, _ body: () throws -> Void) -> String {
    let error = #expect(throws: FleetError.self) { try body() }
    #expect(error?.code == code)
    return error?.message ?? ""
  }

  @Test("the first push writes the stable manifest", .rule("fleet.14"))
  func firstPush() throws {
    let store = try store(stable: false, candidate: false)
    let (effect, change) = try store.state.push(candidate, .standard, isReplacing: false)
    #expect(effect == .first)
    #expect(store.make(change))
    #expect(store.state.stable == candidate && store.state.candidate == nil && store.state.stage == nil)
    #expect(!store.make(change), "only one of two pushes at once")
  }

  @Test("a push writes candidate, signature and the first stage, which has a tenth of the nodes", .rule("fleet.14"))
  func push() throws {
    let store = try store(candidate: false, nodes: 20)
    let (effect, change) = try store.state.push(candidate, .standard, isReplacing: false)
    #expect(store.make(change))
    let stage = try #require(store.state.stage)
    #expect(effect == .candidate(stage) && stage.number == 1 && stage.fleet == 20)
    #expect(store.state.status(of: candidate.id).count(in: stage) == 2)
    #expect(store.state.candidate == candidate && store.state.stable == stable)
    #expect(!store.make(change), "only one of two pushes at once")
    #expect(store.state.controlKeys(.standard)?.stage == stage)
  }

  @Test("a second candidate needs isReplacing, and then nothing of the first is left", .rule("fleet.14"))
  func replacing() throws {
    let store = try store(halted: true)
    store.put(.taken(candidate.id, by: try node(0)), TrialMark.failed("no").bytes)
    let state = store.state
    #expect(refusal(.refused) { _ = try state.push(next, .standard, isReplacing: false) }.contains("--replace"))
    #expect(refusal(.refused) { _ = try state.push(candidate, .standard, isReplacing: false) }.contains("already"))
    #expect(refusal(.refused) { _ = try state.push(stable, .standard, isReplacing: true) }.contains("abort"))
    #expect(store.make(try state.push(next, .standard, isReplacing: true).change))
    #expect(store.state.candidate == next && store.state.candidate?.release == nil && store.state.halt == nil)
    #expect(!store.entries.keys.contains { $0.contains("\(candidate.id)") })
    #expect(store.make(try store.state.push(next, .standard, isReplacing: true).change), "the same manifest begins again")
    #expect(store.state.stage?.number == 1)
  }

  @Test("a push of the stable manifest publishes a new signature only", .rule("fleet.14"))
  func renewal() throws {
    let store = try store(candidate: false)
    #expect(try store.state.push(stable, .standard, isReplacing: false).effect == .nothing)
    #expect(try store.state.push(FleetManifest(stable.bytes), .standard, isReplacing: false).effect == .nothing)
    let renewed = FleetManifest(stable.bytes, release: Array("later".utf8))
    let (effect, change) = try store.state.push(renewed, .standard, isReplacing: false)
    #expect(effect == .renewal)
    #expect(store.make(change))
    #expect(store.state.stable == renewed)
  }

  @Test("halt is made once, and promote is refused until resume", .rule("fleet.14"))
  func halt() throws {
    let store = try store(halted: true)
    #expect(store.state.halt == RolloutHalt(by: .operator, reason: "bad"))
    #expect(try store.state.halted(RolloutHalt(by: .operator)) == nil)
    let state = store.state
    #expect(refusal(.refused) { _ = try state.promoted() }.contains("resume"))
    for change in try state.resumed() { #expect(store.make(change)) }
    #expect(store.state.halt == nil)
    let resumed = store.state
    #expect(refusal(.refused) { _ = try resumed.resumed() }.contains("not halted"))
  }

  @Test("resume removes the notes of nodes that failed or do not hold the candidate, and no others", .rule("fleet.14"))
  func resume() throws {
    let store = try store(halted: true)
    func note(_ index: Int, _ state: NodeReport.State?, _ mark: TrialMark) throws {
      store.put(.taken(candidate.id, by: try node(index)), mark.bytes)
      guard let state else { return }
      store.put(.node(try node(index)), NodeRecord(version: "1", state: state, candidate: candidate.id, since: 0).bytes)
    }
    try note(0, .refused, .failed("no"))
    try note(1, .reverted, .serving(ends: 0))
    try note(2, .serving, .serving(ends: 0))
    try note(3, .trial, .trying(ends: 0))
    try note(4, nil, .trying(ends: 0))
    for change in try store.state.resumed() { #expect(store.make(change)) }
    #expect(Set(store.state.marks.keys) == [try node(2), try node(3)])
  }

  @Test("resume of many failed nodes removes the halt last", .rule("fleet.14"))
  func resumeOfMany() throws {
    let store = try store(halted: true)
    for index in 0..<250 { store.put(.taken(candidate.id, by: try node(index)), TrialMark.failed("no").bytes) }
    let changes = try store.state.resumed()
    #expect(changes.count == 3)
    for change in changes {
      #expect(store.state.halt != nil)
      #expect(store.make(change))
    }
    #expect(store.state.halt == nil && store.state.marks.isEmpty)
  }

  @Test("promote copies candidate and signature in one transaction, and removes the rest", .rule("fleet.13", "fleet.14"))
  func promote() throws {
    let store = try store()
    store.put(.taken(candidate.id, by: try node(0)), TrialMark.serving(ends: 0).bytes)
    let change = try store.state.promoted()
    #expect(store.make(change))
    #expect(store.state.stable == candidate)
    #expect(Set(store.entries.keys.filter { !$0.hasPrefix("p/nodes/") }) == ["p/stable", "p/stable.release"])
    #expect(!store.make(change), "only one of two at once")
  }

  @Test("a promoted manifest without a signature does not keep that of the one before", .rule("fleet.14"))
  func promoteUnsigned() throws {
    let store = try store(candidate: false)
    #expect(store.make(try store.state.push(next, .standard, isReplacing: false).change))
    #expect(store.make(try store.state.promoted()))
    #expect(store.state.stable == next && store.entries["p/stable.release"] == nil)
  }

  @Test("abort removes candidate, stage, halt and notes, and leaves the stable manifest", .rule("fleet.14"))
  func abort() throws {
    let store = try store(halted: true)
    store.put(.taken(candidate.id, by: try node(0)), TrialMark.failed("no").bytes)
    #expect(store.make(try store.state.aborted()))
    #expect(store.state.stable == stable)
    #expect(Set(store.entries.keys.filter { !$0.hasPrefix("p/nodes/") }) == ["p/stable", "p/stable.release"])
  }

  @Test("without a candidate there is nothing to halt, resume, promote or abort", .rule("fleet.14"))
  func withoutCandidate() throws {
    let state = try store(candidate: false).state
    #expect(refusal(.refused) { _ = try state.halted(RolloutHalt(by: nil)) }.contains("push"))
    #expect(refusal(.refused) { _ = try state.resumed() }.contains("push"))
    #expect(refusal(.refused) { _ = try state.promoted() }.contains("push"))
    #expect(refusal(.refused) { _ = try state.aborted() }.contains("push"))
  }

  @Test("a change on a stale revision fails with both revisions", .rule("fleet.14"))
  func stale() throws {
    let store = try store()
    let shown = store.state
    let change = try shown.promoted()
    store.put(.candidate, next.bytes)
    #expect(!store.make(change))
    let before = shown.revision(of: .candidate)
    let now = store.state.revision(of: .candidate)
    let message = change.conflict(store.entries.mapValues(\.revision)).message
    #expect(message.contains("p/candidate was at revision \(before), and is at revision \(now) now"), "\(message)")
    let state = store.state
    let names = Set(shown.keys.manifests)
    let text = refusal(.conflict) { try state.requireUnchanged(since: shown.revision, with: names) }
    #expect(text.contains("revision \(shown.revision)") && text.contains("revision \(now)"), "\(text)")
    try state.requireUnchanged(since: now, with: names.filter { !$0.hasSuffix(".release") })
    let gone = refusal(.conflict) {
      try state.requireUnchanged(since: now, with: names.union([shown.keys.name(.halt(candidate.id))]))
    }
    #expect(gone.contains("p/halt/\(candidate.id) was removed by revision \(state.revision)"), "\(gone)")
  }

  @Test("damaged values are reported and ignored, but a damaged halt halts", .rule("fleet.12"))
  func damaged() throws {
    let store = try store()
    let damaged: [FleetKey] = [
      .stage(candidate.id), .halt(candidate.id), .taken(candidate.id, by: try node(0)), .node(try node(1)),
    ]
    for key in damaged {
      store.put(key, Array("{".utf8))
    }
    store.put(.stage(next.id), Array("{".utf8))
    let state = store.state
    #expect(state.damaged.count == 4, "\(state.damaged)")
    #expect(state.stage == nil && state.marks.isEmpty && state.nodes.count == 2)
    #expect(state.halt == RolloutHalt(by: nil) && state.controlKeys(.standard)?.isHalted == true)
  }
}
