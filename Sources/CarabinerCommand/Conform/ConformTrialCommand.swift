internal import ArgumentParser
internal import CarabinerConformance

/// The child's side of ``ConformCommand``: one check of one plugin; not for people.
struct ConformTrialCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "conform-trial", shouldDisplay: false)

  @Option var check: String
  @Option var plugin: String
  @Option var folder: String
  @Option var seed: UInt64
  @Option var effort: Double
  @Option var config: String?
  @Option var allow: [String] = []

  func run() throws {
    TrialProcess.run(
      .init(
        check: check, plugin: plugin,
        options: TrialOptions(configuration: config, seed: seed, capabilities: Set(allow), effort: effort)),
      in: folder)
  }
}
