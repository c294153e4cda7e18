import ArgumentParser
import CarabinerFleet
import FleetSimulation
import Foundation

@main
struct SimulateFleet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate-fleet",
    abstract: "Simulates roll-outs to many nodes in virtual time, with the rule that nodes apply.",
    discussion: """
      Each line of the table is a number of nodes, a plugin, and faults. The store, the network, clocks and machines are simulated;
      the rule of the roll-out is the code of the gateway. With several seeds, a line has the worst figures of all.

      Exit status: 0 each roll-out ended as it should, 1 one did not or broke the rule, 64 wrong usage.
      """)

  @Option(help: "The number of nodes; may be repeated. (default: 12, 1000, 10000)")
  var nodes: [Int] = []

  @Option(
    help: "The behaviour of the candidate's plugin: good, refused, crashes or crashes-later; may be repeated. (default: all)")
  var plugin: [SimulationSettings.Plugin] = []

  @Option(help: "The share of a stage, as in 0.1%; may be repeated. The last one is 100%. (default: 10%, 50%, 100%)")
  var stage: [String] = []

  @Option(help: "How many seconds a stage is held.")
  var hold = 600

  @Option(help: "How many nodes fail before a roll-out halts.")
  var haltAfter = 1

  @Option(help: "How often each line is simulated, with other random numbers.")
  var seeds = 1

  @Option(help: "The first seed.")
  var seed: UInt64 = 1

  @Flag(help: "Leave out the lines with crashes of machines, partitions, slow nodes and wrong clocks.")
  var withoutFaults = false

  @Option(help: "Also write all figures to this file, as JSON.")
  var json: String?

  func validate() throws {
    guard nodes.allSatisfy({ (1...100_000).contains($0) }) else { throw ValidationError("--nodes is from 1 to 100000") }
    guard (0...86_400).contains(hold) else { throw ValidationError("--hold is from 0 to 86400 seconds") }
    _ = try plan()
    guard (1...10_000).contains(seeds) else { throw ValidationError("--seeds is from 1 to 10000") }
  }

  private func plan() throws -> RolloutPlan {
    let stages = try stage.map { text in
      guard let share = Share(text) else { throw ValidationError("\(text) is not a share; write, for example, 0.5%") }
      return share
    }
    do {
      return try RolloutPlan(
        stages: stages.isEmpty ? RolloutPlan.standard.stages : stages, hold: .seconds(hold), failuresToHalt: haltAfter)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  func run() throws {
    let plan = try plan()
    print(SimulationTable.head)
    var rows: [SimulationRow] = []
    for plugin in plugin.isEmpty ? SimulationSettings.Plugin.allCases : plugin {
      for faults in withoutFaults ? [SimulationSettings.Faults.none] : [.none, .many] {
        for count in nodes.isEmpty ? [12, 1000, 10_000] : nodes {
          let results = (0..<UInt64(seeds)).map { number in
            FleetSimulation.run(
              SimulationSettings(nodes: count, plan: plan, plugin: plugin, faults: faults, seed: seed &+ number))
          }
          let row = SimulationRow(results)
          print(SimulationTable.line(row))
          rows.append(row)
        }
      }
    }
    if let json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(rows).write(to: URL(fileURLWithPath: json))
    }
    let faults = rows.flatMap(\.faults)
    for fault in faults { FileHandle.standardError.write(Data("\(fault)\n".utf8)) }
    if !faults.isEmpty { throw ExitCode.failure }
  }
}

extension SimulationSettings.Plugin: ExpressibleByArgument {}
