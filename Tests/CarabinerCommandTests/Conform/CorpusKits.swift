import Foundation
import TestTools

/// The kits for Rust and Swift, compiled for single-file plugins. They are built at first use and after a change.
actor CorpusKits {
  static let shared = CorpusKits()

  private static let sources = Repository.root.appending(path: "Sources")
  private var builds: [String: Task<URL, any Error>] = [:]

  /// The library of the Rust kit.
  func rust() async throws -> URL {
    try await build(of: "rust", from: ["Kits/rust/src"], into: "libcarabiner.rlib") { output, sources in
      [
        "rustc", "--edition", "2021", "--crate-type", "rlib", "--crate-name", "carabiner", "-O", "-o", output.path,
        sources.first { $0.hasSuffix("/lib.rs") } ?? "",
      ]
    }
  }

  /// The folder with the module of the Swift kit and its object file.
  func swift() async throws -> URL {
    let object = try await build(of: "swift", from: ["CarabinerPlugin", "CCarabiner/include"], into: "CarabinerPlugin.o") {
      output, sources in
      let folder = output.deletingLastPathComponent()
      let header = Self.sources.appending(path: "CCarabiner/include/carabiner.h").path
      try Data("module CCarabiner { header \"\(header)\" export * }".utf8).write(to: folder.appending(path: "module.modulemap"))
      return ["swiftc"] + Self.swiftFlags(folder) + [
        "-module-name", "CarabinerPlugin", "-emit-module", "-emit-module-path",
        folder.appending(path: "CarabinerPlugin.swiftmodule").path, "-emit-object", "-o", output.path,
      ] + sources.filter { $0.hasSuffix(".swift") }
    }
    return object.deletingLastPathComponent()
  }

  /// The compiler flags of the Swift kit and of plugins that use it.
  static func swiftFlags(_ kit: URL) -> [String] {
    ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault"].flatMap {
      ["-enable-upcoming-feature", $0]
    } + [
      "-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors", "-parse-as-library", "-O", "-wmo", "-package-name",
      "carabiner", "-I", kit.path, "-Xcc", "-fmodule-map-file=\(kit.path)/module.modulemap",
    ]
  }

  private func build(
    of kit: String, from folders: [String], into name: String,
    command: @escaping @Sendable (_ output: URL, _ sources: [String]) throws -> [String]
  ) async throws -> URL {
    if let running = builds[kit] { return try await running.value }
    let task = Task {
      let folder = Repository.root.appending(path: ".build/corpus-kits/\(kit)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let output = folder.appending(path: name)
      let sources = folders.flatMap { Self.files(below: Self.sources.appending(path: $0)) }
      let newest = sources.compactMap { Self.modification($0) }.max() ?? .distantFuture
      if let built = Self.modification(output.path), built > newest { return output }
      let run = try await ToolRun(URL(filePath: "/usr/bin/env"), command(output, sources))
      guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.output + run.errors) }
      return output
    }
    builds[kit] = task
    return try await task.value
  }

  private static func files(below folder: URL) -> [String] {
    ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []).sorted().map { folder.appending(path: $0).path }
  }

  private static func modification(_ path: String) -> Date? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
  }
}
