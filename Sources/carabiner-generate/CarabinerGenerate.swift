internal import ArgumentParser
internal import CarabinerGenerateCommand
internal import Foundation

/// The program `carabiner-generate`: `carabiner generate` without the host, for builds.
@main
struct CarabinerGenerate {
  /// Parses the arguments itself, so that a usage error exits with status 2.
  static func main() async {
    do {
      var command = try GenerateCommand.parseAsRoot()
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    } catch {
      let code = GenerateCommand.exitCode(for: error)
      let text = GenerateCommand.fullMessage(for: error)
      if !text.isEmpty { (code == .success ? FileHandle.standardOutput : .standardError).write(Data((text + "\n").utf8)) }
      exit(code == .validationFailure ? 2 : code.rawValue)
    }
  }
}
