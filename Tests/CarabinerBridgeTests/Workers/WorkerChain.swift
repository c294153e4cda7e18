import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWorkers
import Foundation
import TestTools

/// A chain with one plugin, whose worker is `carabiner-worker`, or the worker of Tests/Fixtures/Workers/hostile.c.
struct WorkerChain: Sendable {
  let chain: HostedChain
  private let folder: FixturePlugin.Folder

  struct Problem: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  private init(_ chain: HostedChain, _ folder: FixturePlugin.Folder) {
    self.chain = chain
    self.folder = folder
  }

  /// A chain with a plugin of Tests/Fixtures/Plugins.
  ///
  /// - Parameters:
  ///   - isolation: Further keys of `isolation`, each with a comma before it.
  ///   - extra: Further keys of the entry, likewise.
  init(_ fixture: String, config: String = "{}", isolation: String = "", extra: String = "") async throws {
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile(fixture, into: folder)
    self.init(try Self.chain(path, config: config, isolation, extra, launcher: HostilePrograms.launcher.path), folder)
  }

  /// A chain whose worker breaks a rule of the protocol.
  ///
  /// - Parameters:
  ///   - turn: The rule, by its name in hostile.c. With `none` the worker keeps all.
  ///   - entries: The entries, which share the worker.
  init(
    turn: String, isolation: String = ", restart: {backoff: 1ms, maximum: 1ms, after: 1000}", extra: String = "",
    replacing: WorkerChain? = nil, config: String = "{}", entries: [String] = ["p"], environment: HostEnvironment = .withoutLoop
  ) async throws {
    let programs = try await HostilePrograms.made()
    let folder = try replacing?.folder ?? FixturePlugin.Folder()
    var plugin = try Data(contentsOf: programs.plugin)
    plugin.append(Data("turn=\(turn)\n".utf8))
    let path = folder.file("\(turn).so").path
    try plugin.write(to: URL(filePath: path))
    self.init(
      try Self.chain(
        path, config: config, ", lanes: 1\(isolation)", extra,
        launcher: programs.launcher.path, replacing: replacing?.chain, entries: entries, environment: environment), folder)
  }

  private static func chain(
    _ plugin: String, config: String, _ isolation: String, _ extra: String, launcher: String, replacing: HostedChain? = nil,
    entries: [String] = ["p"], environment: HostEnvironment = .withoutLoop
  ) throws -> HostedChain {
    let plugins = entries.map { name in
      "  - {name: \(name), file: \(plugin), config: \(config), isolation: {mode: worker, group: p\(isolation)}\(extra)}\n"
    }
    let manifest = try Manifest(
      text: "carabiner: 1\nplugins:\n\(plugins.joined())chain: {graphql: [\(entries.joined(separator: ", "))]}\n")
    return try HostedChain(manifest, environment: environment, replacing: replacing, launcher: launcher)
  }

  // MARK: Requests

  func name() async throws -> String? { try await HostedPlugins.name(chain) }

  /// The error of the plugin for one request; nil if the request succeeds.
  func failure() async throws -> PluginError? {
    do {
      _ = try await name()
      return nil
    } catch let error as PluginError {
      return error
    }
  }

  // MARK: The worker

  var worker: WorkerStatus? { chain.workers().first }

  var process: Int32 {
    get throws {
      guard let process = worker?.process else { throw Problem("no process runs: \(String(describing: worker))") }
      return process
    }
  }

  /// Waits until another process runs.
  @discardableResult
  func next(after process: Int32) async throws -> Int32 {
    try await until("another process") { worker in
      worker.condition == .up ? worker.process.flatMap { $0 != process ? $0 : nil } : nil
    }
  }

  /// Waits for the reason of an end.
  func reason(containing text: String) async throws -> String {
    try await until("a reason with \(text)") { $0.lastReason.contains(text) ? $0.lastReason : nil }
  }

  func until<Value>(_ what: String, _ find: (WorkerStatus) -> Value?) async throws -> Value {
    for _ in 0..<3000 {
      if let worker, let found = find(worker) { return found }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw Problem("there is not \(what): \(String(describing: worker))")
  }
}

/// The launcher of the build, with the worker of hostile.c beside it, and a plugin. They stay in the folder of the build.
struct HostilePrograms: Sendable {
  let launcher: URL
  let plugin: URL

  /// `carabiner-launcher`. A build for a sanitizer does not have it, and takes that of CARABINER_LAUNCHER or of the other build.
  static let launcher =
    ProcessInfo.processInfo.environment["CARABINER_LAUNCHER"].map { URL(filePath: $0) }
    ?? Repository.command.deletingLastPathComponent().appending(path: "carabiner-launcher")

  private static let making = Task { try await make() }

  static func made() async throws -> HostilePrograms { try await making.value }

  private static func make() async throws -> HostilePrograms {
    let folder = Repository.root.appending(path: ".build/hostile-worker")
    let files = FileManager.default
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    let work = try FixturePlugin.Folder()
    let root = Repository.root.path
    let worker = work.file("carabiner-worker")
    let sources =
      ["\(root)/Tests/Fixtures/Workers/hostile.c"] + ["space", "wait", "worker"].map { "\(root)/Sources/CCrossing/\($0).c" }
    let includes = ["Sources/CCrossing/include", "Sources/CCarabiner/include"].map { "-I\(root)/\($0)" }
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/cc"),
      ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", worker.path] + includes + sources)
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.errors) }
    let plugin = try await FixturePlugin.compile("crash", into: work, name: "crash.so")
    // By rename: another process of the tests may use the files at this moment.
    let link = work.file("carabiner-launcher")
    try files.createSymbolicLink(at: link, withDestinationURL: launcher)
    for file in [worker, URL(filePath: plugin), link] {
      let target = folder.appending(path: file.lastPathComponent)
      let copy = folder.appending(path: "\(UUID().uuidString)")
      try files.copyItem(at: file, to: copy)
      guard unsafe rename(copy.path, target.path) == 0 else { throw WorkerChain.Problem("\(target.path) cannot be replaced") }
    }
    return HostilePrograms(
      launcher: folder.appending(path: "carabiner-launcher"), plugin: folder.appending(path: "crash.so"))
  }
}
