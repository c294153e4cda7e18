internal import ArgumentParser
internal import CarabinerGenerateCommand
internal import Foundation

/// The program `carabiner-generate`: `carabiner generate` without the host, for builds, and the fetching of a schema.
@main
struct CarabinerGenerate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "carabiner-generate", abstract: "Generate Swift code from a schema and GraphQL documents.",
    subcommands: [GenerateCommand.self] + GenerateCommand.configuration.subcommands + [FetchCommand.self],
    defaultSubcommand: GenerateCommand.self)

  /// Parses the arguments itself, so that a usage error exits with status 2.
  static func main() async {
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    } catch {
      let code = exitCode(for: error)
      let text = fullMessage(for: error)
      if !text.isEmpty { (code == .success ? FileHandle.standardOutput : .standardError).write(Data((text + "\n").utf8)) }
      Foundation.exit(code == .validationFailure ? 2 : code.rawValue)
    }
  }
}
