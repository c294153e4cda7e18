import Foundation
import PackagePlugin

/// Generates Swift code from the GraphQL documents of a target, when the target is built.
///
/// The configuration is in the folder of the target, or in that of the package. The documents are the `.graphql` files of the target.
@main
struct CarabinerGenerate: BuildToolPlugin {
  private static let configuration = "carabiner-generate.yaml"
  /// The files that every target has. They have no declarations if the documents need none.
  private static let schemaFiles = ["SchemaConfiguration.graphql.swift", "SchemaTypes.graphql.swift"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let folders = [target.directoryURL, context.package.directoryURL]
    let candidates = folders.map { $0.appending(path: Self.configuration) }
    guard let configuration = candidates.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
      Diagnostics.error("the target \(target.name) has no \(Self.configuration); write one in \(target.directoryURL.path)")
      return []
    }
    let files = target.sourceFiles.map(\.url)
    let documents = files.filter { $0.pathExtension == "graphql" }
    if documents.isEmpty {
      Diagnostics.warning("the target \(target.name) has no .graphql file; add one, or remove the plugin from the target")
      return []
    }
    let schemas = Set(files.filter { ["graphqls", "json"].contains($0.pathExtension) } + Self.files(named: configuration))
      .subtracting(documents).sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appending(path: "Generated")
    let names = documents.map { $0.lastPathComponent + ".swift" } + Self.schemaFiles
    return [
      .buildCommand(
        displayName: "Generating Swift code for the GraphQL documents of \(target.name)",
        executable: try context.tool(named: "carabiner-generate").url,
        arguments: ["--config", configuration.path, "--output", output.path] + documents.flatMap { ["--document", $0.path] },
        inputFiles: [configuration] + schemas + documents, outputFiles: names.map { output.appending(path: $0) })
    ]
  }

  /// The schema files that a configuration names without wildcards, which may be outside of the target.
  ///
  /// A plugin cannot link a reader of YAML. A word that is not a schema file does no harm: the build only looks for changes of the file.
  private static func files(named configuration: URL) -> [URL] {
    let text = (try? String(contentsOf: configuration, encoding: .utf8)) ?? ""
    let words = text.split { !($0.isLetter || $0.isNumber || "./_-+".contains($0)) }
    let paths = words.filter { word in [".graphqls", ".graphql", ".json"].contains { word.hasSuffix($0) } }
    let folder = configuration.deletingLastPathComponent()
    return paths.map { folder.appending(path: String($0)).standardizedFileURL }.filter {
      FileManager.default.fileExists(atPath: $0.path)
    }
  }
}
