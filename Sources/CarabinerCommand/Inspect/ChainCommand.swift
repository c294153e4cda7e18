public import ArgumentParser
public import Carabiner
internal import CarabinerHost
internal import CarabinerWire
internal import Foundation

/// `carabiner chain`: which stages an operation passes, without loading any plugin.
struct ChainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chain", abstract: "Print the stages an operation passes, in order.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json, dot
  }

  @OptionGroup var source: ManifestOptions
  @Option(name: .long, help: "The operation's name.") var operation: String?
  @Option(name: .long, help: "query, mutation or subscription.") var type: GraphQLOperationType = .query
  @Option(name: .long, help: "text, json or dot.") var format: Format = .text

  func run() async throws {
    do {
      let manifest = try source.manifest()
      let overrides = StageOverrides(ProcessInfo.processInfo.environment[StageOverrides.variable])
      let refusals = manifest.refusals(of: overrides)
      guard refusals.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(refusals)) }
      for warning in manifest.warnings(about: overrides) { Terminal.complain("warning: \(warning)") }
      let drawing = ChainDrawing(
        manifest.stagePlan(operationName: operation, type: type, overrides: overrides), of: operation, type)
      switch format {
      case .text: Terminal.emit(drawing.text)
      case .json: Terminal.emit(String(decoding: drawing.json.serialized(pretty: true), as: UTF8.self))
      case .dot: Terminal.emit(drawing.dot)
      }
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }
}

extension GraphQLOperationType: ExpressibleByArgument {}
