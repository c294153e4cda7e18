import CarabinerFleet
import FleetSimulation
import TestTools
import Testing

/// `Scripts/measure simulation` does the same with 10,000 nodes.
@Suite("Simulated roll-outs")
struct FleetSimulationTests {
  private func run(
    _ plugin: SimulationSettings.Plugin, nodes: Int = 60, _ faults: SimulationSettings.Faults = .none, seed: UInt64 = 1
  ) throws -> SimulationResult {
    let plan = try RolloutPlan(stages: RolloutPlan.standard.stages, hold: .seconds(60))
    return FleetSimulation.run(SimulationSettings(nodes: nodes, plan: plan, plugin: plugin, faults: faults, seed: seed))
  }

  @Test("nothing that must never happen does, whatever breaks", .rule("fleet.13"), arguments: SimulationSettings.Plugin.allCases)
  func invariants(plugin: SimulationSettings.Plugin) throws {
    let faults = SimulationSettings.Faults(
      crashesPerHour: 3, partitionsPerHour: 60, partitionShare: 0.2, slowShare: 0.1, clockDrift: 0.02)
    for seed in 1...40 {
      let result = try run(plugin, nodes: Int(seed) * 3 % 50 + 1, faults, seed: UInt64(seed))
      #expect(result.violations == [], "seed \(seed)")
    }
  }

  @Test("a good candidate reaches all nodes")
  func good() throws {
    let result = try run(.good)
    #expect(result.ending == .stable)
    #expect(result.exposed == 60)
    #expect(try #require(result.decided) >= 180)
  }

  @Test(
    "a bad candidate is halted and reaches the first stage only", arguments: [SimulationSettings.Plugin.refused, .crashes])
  func bad(plugin: SimulationSettings.Plugin) throws {
    for seed in 1...20 {
      let result = try run(plugin, seed: UInt64(seed))
      #expect(result.ending == .halted)
      #expect(result.exposed <= 6, "seed \(seed)")
    }
  }

  @Test("a candidate that ends processes minutes after the trial is halted too")
  func late() throws {
    let result = try run(.crashesLater)
    #expect(result.ending == .halted)
    #expect(result.exposed <= 30)
  }

  @Test("equal settings give equal results")
  func repeatable() throws {
    #expect(try run(.crashesLater, .many) == run(.crashesLater, .many))
  }

  @Test("the reads of a fleet do not grow with its square")
  func reads() throws {
    let result = try run(.good, nodes: 2000)
    #expect(result.load.peak.reads <= 100)
  }
}
