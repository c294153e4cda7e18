internal import ArgumentParser
internal import CProgram
internal import CarabinerGenerateCommand
internal import CarabinerHost
internal import Foundation
internal import Logging

/// The command `carabiner`.
@main
struct CarabinerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "carabiner",
    abstract: "Runs GraphQL requests through interceptors loaded from shared objects.",
    discussion: """
      A manifest lists the plugins and the order of the stages. The README has an example.

      carabiner --version --verbose also prints the commit and the version of Swift.

      Exit status: 0 ok, 1 the response has GraphQL errors, 2 usage, 3 manifest or plugin refused, 4 network, TLS or timeout,
      5 HTTP status, 6 the response cannot be parsed, 7 an interceptor failed, 8 cancelled.
      """,
    version: ServerVersion.text,
    subcommands: [
      RunCommand.self, CallCommand.self,
      ServeCommand.self, StatusCommand.self, TopCommand.self, ReloadCommand.self, RolloutCommand.self,
      DrainCommand.self, DisableCommand.self,
      EnableCommand.self, FleetCommand.self,
      ReplayCommand.self, CheckCommand.self, ChainCommand.self,
      InspectCommand.self, ReleaseCommand.self, TrustCommand.self, CacheCommand.self, NewCommand.self,
      GenerateCommand.self, SchemaCommand.self,
      ConformCommand.self, DemoServerCommand.self, ProbeCommand.self, ConformTrialCommand.self,
    ])

  /// The arguments without the program's name; none if there is no /proc.
  ///
  /// Swift looks for them next to the environment in memory. It does not find them if a library in `LD_PRELOAD` has moved the
  /// environment.
  private static var words: [String] {
    let found = CommandLine.arguments.dropFirst()
    guard found.isEmpty, FileManager.default.fileExists(atPath: "/proc/self/exe") else { return Array(found) }
    return (0..<CProgram_argumentCount()).dropFirst().map { unsafe String(cString: CProgram_argument($0)) }
  }

  /// Parses the arguments itself, so that a usage error exits with status 2.
  static func main() async {
    let words = words
    if words.isEmpty, CProgram_argumentCount() > 1 {
      Terminal.complain(
        "there is no /proc, and the arguments cannot be read without it; mount it, as in mount -t proc proc /proc")
      Foundation.exit(ExitStatus.usage.rawValue)
    }
    if words.count == 2, Set(words) == ["--version", "--verbose"] {
      print(ServerVersion.details)
      return
    }
    // Read once, because many loggers are made and reading the environment is slow.
    let level = ProcessInfo.processInfo.environment["CARABINER_LOG"].flatMap(Logger.Level.init(rawValue:)) ?? .warning
    LoggingSystem.bootstrap { label in
      LineLogHandler(label: label, level: level)
    }
    do {
      // The harness starts this command hundreds of times. A debug build of the parser examines all commands first, for 20 ms.
      var command =
        words.first == ConformTrialCommand.configuration.commandName
        ? try ConformTrialCommand.parseAsRoot(Array(words.dropFirst())) : try parseAsRoot(words)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let status as ExitStatus {
      Foundation.exit(status.rawValue)
    } catch {
      let code = exitCode(for: error)
      let text = fullMessage(for: error)
      if code == .success {
        print(text)
      } else if !text.isEmpty {
        Terminal.complain(text)
      }
      Foundation.exit(code == .success ? 0 : code == .validationFailure ? ExitStatus.usage.rawValue : code.rawValue)
    }
  }
}
