internal import ArgumentParser
internal import CarabinerGenerateCommand
internal import Foundation

/// The program `carabiner-generate`: `carabiner generate` without the host, for builds, and the fetching of a schema.
@main
struct CarabinerGenerate: AsyncParsableCommand {
  static let configuration = {
    var configuration = GenerateCommand.configuration
    configuration.commandName = "carabiner-generate"
    configuration.subcommands.append(FetchCommand.self)
    return configuration
  }()

  @OptionGroup var generate: GenerateCommand

  func run() async throws { try await generate.run() }

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
