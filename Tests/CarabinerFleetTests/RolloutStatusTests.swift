import CarabinerFleet
import TestTools
import Testing

@Suite("Reports of nodes about a candidate")
struct RolloutStatusTests {
  private let candidate = CandidateID(manifest: Array("candidate".utf8))

  private func ranks(_ count: Int) -> [NodeRank] { (0..<count).map { NodeRank("node-\($0)", for: candidate) }.sorted() }

  private func plan(_ percent: Int) throws -> RolloutPlan {
    try RolloutPlan(stages: [Share(percent: percent), Share.all].compactMap(\.self), hold: .seconds(1))
  }

  @Test("a stage has the first nodes by rank, and nodes that drain do not count", .rule("fleet.13"))
  func stages() throws {
    let ranks = ranks(10)
    var status = RolloutStatus(candidate)
    for rank in ranks.shuffled() { status.note(NodeReport(.serving), of: rank) }
    let stage = RolloutStage(1, of: try plan(30), status)
    #expect(ranks.filter(stage.includes) == Array(ranks.prefix(3)))
    #expect(status.count(in: stage) == 3)
    status.note(NodeReport(.draining), of: ranks[0])
    #expect(status.count == 9)
    #expect(status.count(in: stage) == 2)
    #expect(RolloutStage(1, of: try plan(30), status).includes(ranks[3]))
  }

  @Test("the last stage has nodes that come later too", .rule("fleet.13"))
  func lastStage() throws {
    let stage = RolloutStage(2, of: try plan(30), RolloutStatus(candidate))
    #expect(ranks(50).allSatisfy(stage.includes))
  }

  @Test("of a stage of 200 nodes, 2 may be without a result", .rule("fleet.13"))
  func nearlySettled() {
    let ranks = ranks(200)
    var status = RolloutStatus(candidate)
    for rank in ranks { status.note(NodeReport(.serving, of: candidate), of: rank) }
    let stage = RolloutStage(1, end: .max, fleet: 200)
    for rank in ranks.prefix(2) { status.note(NodeReport(.trial, of: candidate), of: rank) }
    #expect(status.isSettled(stage))
    status.note(NodeReport(.trial, of: candidate), of: ranks[2])
    #expect(!status.isSettled(stage))
  }

  @Test("a stage is settled when all of its nodes have ended their trials and one serves", .rule("fleet.13"))
  func settled() throws {
    let ranks = ranks(4)
    var status = RolloutStatus(candidate)
    for rank in ranks { status.note(NodeReport(.serving), of: rank) }
    let stage = RolloutStage(1, of: try plan(50), status)
    status.note(NodeReport(.rolledBack, of: candidate), of: ranks[0])
    status.note(NodeReport(.rolledBack, of: candidate), of: ranks[1])
    #expect(!status.isSettled(stage), "none serves")
    status.note(NodeReport(.serving, of: candidate), of: ranks[1])
    #expect(status.isSettled(stage))
    status.note(NodeReport(.trial, of: candidate), of: ranks[0])
    #expect(!status.isSettled(stage))
    status.note(nil as NodeReport?, of: ranks[0])
    #expect(status.isSettled(stage), "a node that is gone is not waited for")
    status.note(NodeReport(.serving, of: CandidateID(manifest: [])), of: ranks[1])
    #expect(!status.isSettled(stage), "another candidate does not count")
  }

  @Test("changes one by one give the same as reading all at once", arguments: 1...20)
  func incremental(seed: UInt64) throws {
    var random = Seeded(state: seed)
    let ranks = ranks(12)
    let stage = RolloutStage(1, end: ranks[6].place, fleet: 12)
    var reports: [NodeRank: NodeReport] = [:]
    var marks: [NodeRank: TrialMark] = [:]
    var status = RolloutStatus(candidate)
    let states = NodeReport.State.allCases
    for _ in 0..<300 {
      let rank = ranks[Int.random(in: 0..<12, using: &random)]
      if Bool.random(using: &random) {
        let about = Bool.random(using: &random) ? candidate : nil
        let report =
          Bool.random(using: &random) ? NodeReport(states[Int.random(in: 0..<states.count, using: &random)], of: about) : nil
        reports[rank] = report
        status.note(report, of: rank)
      } else {
        let options: [TrialMark?] = [nil, .trying(ends: 0), .serving(ends: 1), .failed("no")]
        let mark = options[Int.random(in: 0..<4, using: &random)]
        marks[rank] = mark
        status.note(mark, of: rank)
      }
      let living = reports.filter { $0.value.state != .draining }
      let inStage = living.filter { stage.includes($0.key) }
      let serves = { (report: NodeReport) in report == NodeReport(.serving, of: candidate) }
      let hasEnded = { (report: NodeReport) in
        report.candidate == candidate && [.serving, .refused, .rolledBack].contains(report.state)
      }
      #expect(status.count == living.count)
      let whole = RolloutStatus(candidate, reports: reports, marks: marks)
      #expect(whole.count == status.count && whole.serving == status.serving && whole.isSettled(stage) == status.isSettled(stage))
      #expect(whole.orphans == status.orphans && whole.failures == status.failures)
      #expect(status.serving == living.values.count(where: serves))
      #expect(status.count(in: stage) == inStage.count)
      #expect(
        status.isSettled(stage)
          == (!inStage.isEmpty && inStage.values.allSatisfy(hasEnded) && living.values.contains(where: serves)))
      #expect(status.orphans == Set(marks.filter { $0.value == .trying(ends: 0) && reports[$0.key] == nil }.map(\.key.name)))
      #expect(Set(status.failures.keys) == Set(marks.filter(\.value.isFailure).map(\.key.name)))
    }
  }
}

struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
}
