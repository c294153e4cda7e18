internal import ArgumentParser
internal import CarabinerGeneration
internal import CarabinerGenerator

/// `carabiner generate init`: a new configuration.
struct GenerateInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Create a configuration for the generation of code.",
    discussion: """
      With --from, the configuration has the settings of an apollo-codegen-config.json. Each setting without a counterpart is printed.

      Exit status: 0 created, 2 usage or the file exists, 3 the other configuration cannot be read, or the file cannot be written.
      """)

  @Argument(help: "The configuration to create.", completion: .file())
  var file = GenerationRequest.standardConfiguration
  @Option(name: .long, help: "The configuration of Apollo's generator to convert.", completion: .file(extensions: ["json"]))
  var from: String?

  func run() throws {
    let new: NewConfiguration
    let isCreated: Bool
    do throws(GeneratorError) {
      if let from { new = try NewConfiguration(converting: from) } else { new = NewConfiguration() }
      isCreated = try new.create(at: file)
    } catch {
      Console.complain(error.description)
      throw GenerateStatus.refused
    }
    guard isCreated else {
      Console.complain("error: \(file) exists already; remove it, or name another file")
      throw GenerateStatus.usage
    }
    for setting in new.unconverted { Console.complain("\(from ?? ""): warning: \(setting)") }
    Console.emit("\(file) is created. Next: carabiner generate --config \(file)")
  }
}
