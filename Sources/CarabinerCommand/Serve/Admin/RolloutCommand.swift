internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerWire

/// `carabiner rollout`: ends the trial of a generation.
struct RolloutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollout", abstract: "Promote the generation on trial, or end its trial.",
    discussion: """
      A manifest with serve: {canary: …} or serve: {shadow: …} does not take over at once. A canary takes over, or is rolled back,
      automatically. A shadow waits for this command. Exit status: 0 if it is done, 3 if no generation is on trial.
      """,
    subcommands: [Promote.self, Abort.self])

  struct Promote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give all operations to the generation on trial now.")
    @OptionGroup var options: AdminOptions
    func run() async throws { try await RolloutCommand.end("promote", options) }
  }

  struct Abort: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "End the trial. The old generation continues.")
    @OptionGroup var options: AdminOptions
    func run() async throws { try await RolloutCommand.end("abort", options) }
  }

  private static func end(_ how: String, _ options: AdminOptions) async throws {
    let (status, json) = try await options.client().json("POST", "/trial/\(how)")
    options.show(json) { $0["error"]?.string.map { "error: \($0)" } ?? ReloadReport.text($0) }
    if status != 200 { throw ExitStatus.refused }
  }
}
