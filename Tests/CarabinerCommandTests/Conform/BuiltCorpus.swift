import CommandTools
import Foundation
import TestTools

/// Plugins of the fixtures, each built and run once for all suites of this process.
actor BuiltCorpus {
  static let shared = BuiltCorpus()

  private static let root = Repository.root.appending(path: ".build/corpus-plugins")
  private var builds: [URL: Task<String, any Error>] = [:]
  private var runs: [URL: Task<CommandRun, any Error>] = [:]

  /// The path of the plugin. Tests do not change the file.
  func path(of plugin: BadPlugin) async throws -> String {
    if let running = builds[plugin.source] { return try await running.value }
    let task = Task {
      let folder = Self.root.appending(path: plugin.source.pathComponents.suffix(2).joined(separator: "/"))
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return try await plugin.build(into: folder)
    }
    builds[plugin.source] = task
    return try await task.value
  }

  /// The run of the plugin's own check in the process of the harness, with a report in JSON.
  func run(of plugin: BadPlugin) async throws -> CommandRun {
    if let running = runs[plugin.source] { return try await running.value }
    let task = Task { try await CommandRun(["conform"] + plugin.ownCheck + [try await path(of: plugin)]) }
    runs[plugin.source] = task
    return try await task.value
  }
}

extension BadPlugin {
  /// The arguments for the plugin's own check.
  var ownCheck: [String] { selection + ["--effort", "0.05", "--jobs", "1", "--format", "json"] + arguments }

  /// Builds it, unless another test has done so, and returns its path.
  func built() async throws -> String { try await BuiltCorpus.shared.path(of: self) }
}
