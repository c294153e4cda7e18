import Foundation
import PackagePlugin

/// `swift package generate-graphql [--target NAME]… [--check]`: generates Swift code into the folders that configurations name.
///
/// A configuration is in the folder of its target, or in that of the package.
@main
struct GenerateGraphQL: CommandPlugin {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let configuration = "carabiner-generate.yaml"

  func performCommand(context: PluginContext, arguments: [String]) throws {
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
    var folders = targets.compactMap { ($0 as? any SourceModuleTarget)?.directoryURL }
    if names.isEmpty { folders.insert(context.package.directoryURL, at: 0) }
    let found = folders.map { $0.appending(path: Self.configuration).path }.filter { FileManager.default.fileExists(atPath: $0) }
    guard !found.isEmpty else {
      throw Failure(description: "there is no \(Self.configuration) in the package or a target; write one")
    }
    let tool = try context.tool(named: "carabiner-generate").url
    var failures: [String] = []
    for configuration in found {
      let process = Process()
      process.executableURL = tool
      process.arguments = ["--config", configuration] + extractor.remainingArguments
      try process.run()
      process.waitUntilExit()
      if process.terminationStatus != 0 { failures.append("\(configuration): exit status \(process.terminationStatus)") }
    }
    guard failures.isEmpty else { throw Failure(description: failures.joined(separator: "\n")) }
  }
}
