import Foundation
import PackagePlugin

/// `swift package generate-documentation`: makes the symbol graph of the module Carabiner and runs Scripts/documentation with it.
@main
struct GenerateDocumentation: CommandPlugin {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  func performCommand(context: PluginContext, arguments: [String]) throws {
    guard let module = try context.package.targets(named: ["Carabiner"]).first else {
      throw Failure(description: "the package has no target Carabiner")
    }
    let graph = try packageManager.getSymbolGraph(
      for: module,
      options: .init(minimumAccessLevel: .public, includeSynthesized: false, includeSPI: false, emitExtensionBlocks: false))
    let script = Process()
    script.executableURL = context.package.directoryURL.appending(path: "Scripts/documentation")
    script.arguments = ["--graphs", graph.directoryURL.path] + arguments
    try script.run()
    script.waitUntilExit()
    guard script.terminationStatus == 0 else {
      throw Failure(description: "Scripts/documentation ended with status \(script.terminationStatus)")
    }
  }
}
