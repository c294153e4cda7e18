import CarabinerFleet
import CarabinerManifest
import CarabinerWire
import TestTools
import Testing

@Suite("Manifests: the plan of a roll-out")
struct ManifestFleetTests {
  private func plan(_ text: String) throws -> RolloutPlan? {
    try ManifestFixtures.manifest("carabiner: 1\n\(text)").fleet
  }

  @Test("fleet has stages, hold, halt-after, on-halt and promote", .rule("fleet.13"))
  func keys() throws {
    let plan = try plan("fleet: {stages: [0.5%, 25.25%, 100%], hold: 90s, halt-after: 3, on-halt: stay, promote: operator}")
    let stages = [Share(hundredths: 50), Share(hundredths: 2525), .all].compactMap(\.self)
    let expected = try RolloutPlan(
      stages: stages, hold: .seconds(90), failuresToHalt: 3, haltEffect: .stay, promoter: .operator)
    #expect(plan == expected)
    #expect(try self.plan("fleet: {hold: 0s, stages: [100.00%]}")?.hold == .zero)
  }

  @Test("without keys the plan is the standard one, and without fleet there is none", .rule("fleet.13"))
  func defaults() throws {
    #expect(try plan("fleet: {}") == .standard)
    #expect(try plan("") == nil)
    #expect(RolloutPlan.standard.stages.map(\.description) == ["10%", "50%", "100%"])
  }

  @Test("a change of the plan is a difference", .rule("fleet.13"))
  func difference() throws {
    let (old, new) = (try ManifestFixtures.manifest("carabiner: 1"), try ManifestFixtures.manifest("carabiner: 1\nfleet: {}"))
    #expect(ManifestDifference(from: old, to: new).lines == ["~ fleet"])
  }

  @Test("the schema has the defaults and the words of the rule", .rule("fleet.13"))
  func schema() throws {
    let fleet = try JSONValue(parsing: Manifest.schema)["properties"]?["fleet"]?["properties"]
    let standard = RolloutPlan.standard
    #expect(fleet?["stages"]?["default"]?.array?.map(\.string) == standard.stages.map(\.description))
    #expect(fleet?["halt-after"]?["default"]?.int == standard.failuresToHalt)
    #expect(fleet?["on-halt"]?["default"]?.string == standard.haltEffect.rawValue)
    #expect(fleet?["on-halt"]?["enum"]?.array?.map(\.string) == RolloutPlan.HaltEffect.allCases.map(\.rawValue))
    #expect(fleet?["promote"]?["default"]?.string == standard.promoter.rawValue)
    #expect(fleet?["promote"]?["enum"]?.array?.map(\.string) == RolloutPlan.Promoter.allCases.map(\.rawValue))
  }
}
