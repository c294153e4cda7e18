import CarabinerFleet
import TestTools
import Testing

@Suite("The rule of a roll-out")
struct RolloutRuleTests {
  private let stable = CandidateID(manifest: Array("stable".utf8))
  private let candidate = CandidateID(manifest: Array("candidate".utf8))
  private let names = (0..<10).map { "node-\($0)" }
  /// The nodes in the order of their ranks.
  private let order: [NodeRank]

  init() {
    let candidate = candidate
    order = names.map { NodeRank($0, for: candidate) }.sorted()
  }

  private var idle: RolloutStatus {
    var status = RolloutStatus(candidate)
    for rank in order { status.note(NodeReport(.serving), of: rank) }
    return status
  }

  private func keys(_ status: RolloutStatus, stage: Int = 1, plan: RolloutPlan = .standard) -> ControlKeys {
    ControlKeys(stable: stable, candidate: candidate, plan: plan, stage: RolloutStage(stage, of: plan, status))
  }

  private func rule(_ index: Int) -> RolloutRule { RolloutRule(node: order[index].name, stable: stable) }

  @Test("a node of the stage takes the candidate once, others do not", .rule("fleet.13"))
  func taking() {
    var (first, second) = (rule(0), rule(1))
    let keys = keys(idle)
    #expect(first.actions(keys, mark: nil, idle, at: .zero) == [.take(candidate, ends: 0)])
    #expect(first.actions(keys, mark: .trying(ends: 0), idle, at: .zero) == [])
    #expect(second.actions(keys, mark: nil, idle, at: .zero) == [])
    first.trialEnded(candidate, serves: false)
    #expect(first.actions(keys, mark: .failed("x"), nil, at: .zero) == [])
    #expect(!first.holds(candidate))
  }

  @Test("a trial that ended the process counts as failed at the next start", .rule("fleet.13"))
  func diedInTrial() {
    var rule = rule(0)
    let actions = rule.actions(keys(idle), mark: .trying(ends: 0), nil, at: .zero)
    #expect(actions == [.noteFailure(of: order[0].name, reason: "its process ended during the trial")])
  }

  @Test("a process that ended once while it served the candidate tries again, and the second end is a failure", .rule("fleet.13"))
  func endsWhileServing() {
    let keys = keys(idle)
    var second = rule(0)
    #expect(second.actions(keys, mark: .serving(ends: 0), nil, at: .zero) == [.take(candidate, ends: 1)])
    var third = rule(0)
    #expect(
      third.actions(keys, mark: .serving(ends: 1), nil, at: .zero)
        == [.noteFailure(of: order[0].name, reason: "its process ended 2 times while it served the candidate")])
  }

  @Test("a node that tries the candidate and is away for 30 s counts as failed", .rule("fleet.13"))
  func absence() {
    var rule = rule(5)
    var status = idle
    status.note(nil as NodeReport?, of: order[0])
    status.note(.trying(ends: 0), of: order[0])
    let keys = keys(idle)
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(100)) == [])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(129)) == [])
    let actions = rule.actions(keys, mark: nil, status, at: .seconds(130))
    #expect(actions == [.noteFailure(of: order[0].name, reason: "it began its trial and has been away for 30 s")])
    status.note(NodeReport(.starting), of: order[0])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(131)) == [])
  }

  @Test("so many failures as halt-after says halt the roll-out, with their reasons", .rule("fleet.13"))
  func halting() throws {
    let plan = try RolloutPlan(stages: RolloutPlan.standard.stages, hold: .seconds(1), failuresToHalt: 2)
    var rule = rule(5)
    var status = idle
    status.note(.failed("bad"), of: order[0])
    #expect(rule.actions(keys(idle, plan: plan), mark: nil, status, at: .zero) == [])
    status.note(.failed("worse"), of: order[1])
    let actions = rule.actions(keys(idle, plan: plan), mark: nil, status, at: .zero)
    #expect(actions == [.halt([order[0].name: "bad", order[1].name: "worse"])])
  }

  @Test("after a halt no node takes the candidate, and a node that has it goes back once", .rule("fleet.13"))
  func halted() {
    var (holder, other) = (rule(0), rule(1))
    var keys = keys(idle)
    _ = holder.actions(keys, mark: nil, nil, at: .zero)
    holder.trialEnded(candidate, serves: true)
    keys.isHalted = true
    #expect(holder.actions(keys, mark: .serving(ends: 0), idle, at: .zero) == [.serveStable])
    #expect(holder.actions(keys, mark: .serving(ends: 0), idle, at: .zero) == [])
    keys.stage = RolloutStage(3, of: .standard, idle)
    #expect(other.actions(keys, mark: nil, idle, at: .seconds(10_000)) == [])
  }

  @Test("with on-halt stay, who serves the candidate keeps it", .rule("fleet.13"))
  func stays() throws {
    let plan = try RolloutPlan(stages: RolloutPlan.standard.stages, hold: .zero, haltEffect: .stay)
    var holder = rule(0)
    var keys = keys(idle, plan: plan)
    _ = holder.actions(keys, mark: nil, nil, at: .zero)
    holder.trialEnded(candidate, serves: true)
    keys.isHalted = true
    #expect(holder.actions(keys, mark: .serving(ends: 0), idle, at: .zero) == [])
    #expect(holder.holds(candidate))
  }

  @Test("a stage that is held for long enough is followed by the next, by the observer's own clock", .rule("fleet.13"))
  func nextStage() {
    var rule = rule(9)
    var status = idle
    let keys = keys(idle)
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(5)) == [])
    status.note(NodeReport(.serving, of: candidate), of: order[0])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(10)) == [])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(609)) == [])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(610)) == [.begin(RolloutStage(2, of: .standard, status))])
    status.note(NodeReport(.trial, of: candidate), of: order[0])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(611)) == [])
    status.note(NodeReport(.serving, of: candidate), of: order[0])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(612)) == [], "the time begins again")
  }

  @Test(
    "after the last stage the candidate becomes stable, unless an operator decides that", .rule("fleet.13"),
    arguments: RolloutPlan.Promoter.allCases)
  func promotion(by promoter: RolloutPlan.Promoter) throws {
    let plan = try RolloutPlan(stages: [.all], hold: .zero, promoter: promoter)
    var status = idle
    for rank in order { status.note(NodeReport(.serving, of: candidate), of: rank) }
    var rule = rule(0)
    var keys = keys(idle, plan: plan)
    _ = rule.actions(keys, mark: nil, nil, at: .zero)
    rule.trialEnded(candidate, serves: true)
    let actions = rule.actions(keys, mark: .serving(ends: 0), status, at: .zero)
    #expect(actions == (promoter == .nodes ? [.promote] : []))
    keys.stable = candidate
    keys.candidate = nil
    #expect(rule.actions(keys, mark: nil, nil, at: .zero) == [], "a node that serves it already changes nothing")
    var other = self.rule(1)
    #expect(other.actions(keys, mark: nil, nil, at: .zero) == [.serveStable])
    #expect(other.actions(keys, mark: nil, nil, at: .zero) == [])
  }

  @Test("a stage all of whose nodes are gone gets others", .rule("fleet.13"))
  func goneStage() {
    var rule = rule(9)
    var status = idle
    let keys = keys(idle)
    status.note(nil as NodeReport?, of: order[0])
    #expect(rule.actions(keys, mark: nil, status, at: .zero) == [])
    #expect(rule.actions(keys, mark: nil, status, at: .seconds(29)) == [])
    let actions = rule.actions(keys, mark: nil, status, at: .seconds(30))
    #expect(actions == [.begin(RolloutStage(1, of: .standard, status))])
    guard case .begin(let stage)? = actions.first else { return }
    #expect(stage.includes(order[1]) && !stage.includes(order[2]))
  }

  @Test("a candidate that is taken away or replaced is given up", .rule("fleet.13"))
  func replaced() {
    var rule = rule(0)
    var keys = keys(idle)
    _ = rule.actions(keys, mark: nil, nil, at: .zero)
    rule.trialEnded(candidate, serves: true)
    keys.candidate = CandidateID(manifest: Array("other".utf8))
    #expect(rule.actions(keys, mark: nil, nil, at: .zero) == [.serveStable])
    #expect(!rule.holds(candidate))
  }

  @Test("after resume, a node that was sent back takes the candidate again", .rule("fleet.13"))
  func resumed() {
    var rule = rule(0)
    var keys = keys(idle)
    _ = rule.actions(keys, mark: nil, nil, at: .zero)
    keys.isHalted = true
    #expect(rule.actions(keys, mark: .trying(ends: 0), nil, at: .zero) == [.serveStable])
    keys.isHalted = false
    #expect(rule.actions(keys, mark: nil, nil, at: .zero) == [.take(candidate, ends: 0)])
  }

  @Test("when half of the nodes are gone, the observers are chosen among the others", .rule("fleet.13"))
  func shrunkFleet() {
    // The last one of the order observes a fleet of 21 nodes.
    var rule = rule(9)
    let keys = ControlKeys(
      stable: stable, candidate: candidate, stage: RolloutStage(1, end: order[0].place, fleet: 21))
    let actions = rule.actions(keys, mark: nil, idle, at: .zero)
    #expect(actions == [.begin(RolloutStage(1, end: order[0].place, fleet: 10))])
  }

  @Test("a halt lists at most 20 failures", .rule("fleet.13"))
  func manyFailures() {
    var rule = rule(5)
    var status = idle
    for number in 0..<100 {
      status.note(.failed(String(repeating: "x", count: 1000)), of: NodeRank("other-\(number)", for: candidate))
    }
    guard case .halt(let failures)? = rule.actions(keys(idle), mark: nil, status, at: .zero).last else {
      Issue.record("no halt")
      return
    }
    #expect(failures.count == 20 && failures.values.allSatisfy { $0.count == 200 })
  }

  @Test("a replaced candidate is given up, and the new one is taken afterwards", .rule("fleet.13"))
  func takesTheNext() {
    let next = CandidateID(manifest: Array("next".utf8))
    var rule = rule(0)
    var keys = keys(idle)
    _ = rule.actions(keys, mark: nil, nil, at: .zero)
    rule.trialEnded(candidate, serves: true)
    keys.candidate = next
    keys.stage = RolloutStage(1, end: .max, fleet: 10)
    #expect(rule.actions(keys, mark: nil, nil, at: .zero) == [.serveStable])
    #expect(rule.actions(keys, mark: nil, nil, at: .zero) == [.take(next, ends: 0)])
  }

  @Test("about 20 nodes of a large fleet observe it, and all of a small one", arguments: [1, 20, 1000, 10_000])
  func observers(count: Int) {
    let stage = RolloutStage(1, end: 0, fleet: count)
    let keys = ControlKeys(stable: stable, candidate: candidate, stage: stage)
    let observing = (0..<count).count { index in
      var rule = RolloutRule(node: "node-\(index)", stable: stable)
      return rule.observes(keys)
    }
    #expect(count <= 20 ? observing == count : (5...45).contains(observing), "\(observing)")
  }
}
