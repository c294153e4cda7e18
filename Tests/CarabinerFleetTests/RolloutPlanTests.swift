import CarabinerFleet
import TestTools
import Testing

@Suite("Plans of roll-outs")
struct RolloutPlanTests {
  private func percent(_ numbers: Int...) -> [Share] { numbers.compactMap { Share(percent: $0) } }

  @Test("stages grow and end at 100%", .rule("fleet.13"), arguments: [[10], [10, 10, 100], [50, 10, 100], [100, 10], []])
  func invalidStages(_ stages: [Int]) {
    #expect(throws: RolloutPlanFault.self) {
      try RolloutPlan(stages: stages.compactMap { Share(percent: $0) }, hold: .zero)
    }
  }

  @Test("a plan has at most 32 stages, no negative time and no limit of 0 failures", .rule("fleet.13"))
  func otherFaults() throws {
    let many = (1...40).compactMap { Share(hundredths: $0) } + [Share.all]
    #expect(throws: RolloutPlanFault.tooManyStages) { try RolloutPlan(stages: many, hold: .zero) }
    #expect(throws: RolloutPlanFault.negativeHold) { try RolloutPlan(stages: percent(100), hold: .seconds(-1)) }
    #expect(throws: RolloutPlanFault.noFailures) { try RolloutPlan(stages: percent(100), hold: .zero, failuresToHalt: 0) }
    #expect(try RolloutPlan(stages: percent(10, 50, 100), hold: .seconds(600)) == .standard)
  }

  @Test(
    "a share of some nodes is rounded up", .rule("fleet.13"),
    arguments: [(10, 12, 2), (50, 12, 6), (100, 12, 12), (1, 1, 1), (10, 0, 0)])
  func shares(percent: Int, count: Int, nodes: Int) throws {
    #expect(try #require(Share(percent: percent)).nodes(of: count) == nodes)
  }

  @Test("shares are written as percentages", arguments: [(1, "0.01%"), (50, "0.5%"), (1050, "10.5%"), (10_000, "100%")])
  func text(hundredths: Int, text: String) throws {
    #expect(try #require(Share(hundredths: hundredths)).description == text)
    #expect(Share(text) == Share(hundredths: hundredths))
  }

  @Test(
    "other texts than percentages are not shares", .rule("fleet.13"),
    arguments: ["", "%", "10", "10 %", "-1%", "1.%", ".5%", "1.234%", "101%", "0%", "0.0%", "1.2.3%", "999999999999%"])
  func noPercentage(_ text: String) { #expect(Share(text) == nil) }

  @Test("a share is more than 0% and at most 100%", arguments: [0, -1, 10_001])
  func noShare(_ hundredths: Int) { #expect(Share(hundredths: hundredths) == nil) }

  @Test("a candidate is the first 16 digits of the SHA-256 of its manifest")
  func identity() {
    let id = CandidateID(manifest: Array("hello\n".utf8))
    #expect(id.description == "5891b5b522d5df08")
    #expect(CandidateID("5891b5b522d5df08") == id)
  }

  @Test(
    "other texts are not read as identities",
    arguments: ["", "5891B5B522D5DF08", "+891b5b522d5df08", "5891b5b522d5df0", "5891b5b522d5df080"])
  func noIdentity(_ text: String) { #expect(CandidateID(text) == nil) }
}
