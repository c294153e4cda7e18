import Foundation
import PackagePlugin

/// `swift package generate-graphql [--target NAME]… [--check]`: generates Swift code into the folders that configurations name.
///
/// A configuration is in the folder of its target, or in that of the package. The subcommands of `carabiner-generate` run in the folder of
/// the package: `swift package generate-graphql fetch URL`.
@main
struct GenerateGraphQL: CommandPlugin {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let configuration = "carabiner-generate.yaml"

  func performCommand(context: PluginContext, arguments: [String]) throws {
    let tool = try context.tool(named: "carabiner-generate").url
    if let first = arguments.first, !first.hasPrefix("-") || ["--help", "-h"].contains(first) {
      let status = try Self.run(tool, arguments, in: context.package.directoryURL)
      // The tool has printed the reason.
      if status != 0 { exit(status) }
      return
    }
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
    var folders = targets.compactMap { ($0 as? any SourceModuleTarget)?.directoryURL }
    if names.isEmpty { folders.insert(context.package.directoryURL, at: 0) }
    let found = folders.map { $0.appending(path: Self.configuration).path }.filter { FileManager.default.fileExists(atPath: $0) }
    guard !found.isEmpty else {
      throw Failure(
        description:
          "there is no \(Self.configuration) in the package or a target; write one, or run swift package generate-graphql init")
    }
    var failures: [String] = []
    for configuration in found {
      let arguments = ["--config", configuration] + extractor.remainingArguments
      let status = try Self.run(tool, arguments, in: context.package.directoryURL)
      if status != 0 { failures.append("\(configuration): exit status \(status)") }
    }
    guard failures.isEmpty else { throw Failure(description: failures.joined(separator: "\n")) }
  }

  private static func run(_ tool: URL, _ arguments: [String], in folder: URL) throws -> Int32 {
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    process.currentDirectoryURL = folder
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
