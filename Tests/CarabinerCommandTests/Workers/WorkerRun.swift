import Foundation
import TestTools
import Testing

/// A run of `carabiner-launcher`, and what its worker reported.
struct WorkerRun: Sendable {
  /// A feature of the kernel that `Tests/Fixtures/Confinement/without.c` takes away.
  enum Feature: String, Sendable, CaseIterable {
    case namespaces, landlock, mounts, seccomp
  }

  /// The layers by the names in the report.
  enum Layer {
    static let calls = "a filter of system calls (seccomp)"
    static let files = "a wall around files (Landlock)"
    static let namespaces = "namespaces of its own"
    static let root = "a root of its own"
    static let all: Set = [
      calls, files, namespaces, root, "no privileges", "limits", "no other descriptors", "another user than root",
      "a session of its own",
    ]
  }

  static let programs = ["carabiner-launcher", "carabiner-worker"].map {
    Repository.command.deletingLastPathComponent().appending(path: $0)
  }

  let status: Int32
  let output: String
  let errors: String
  let inForce: Set<String>
  /// The missing layers with their reasons.
  let missing: [String: String]
  /// The names of the refused system calls.
  let refused: [String]

  var isConfined: Bool { output.split(separator: "\n").contains("confined") }
  var isMapped: Bool { output.split(separator: "\n").contains("mapped") }

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - user: The user that starts the launcher.
  ///   - features: What the kernel seems to lack.
  ///   - libraries: `LD_LIBRARY_PATH` of the launcher.
  ///   - prefix: A program that starts the launcher.
  ///   - meanwhile: Called with the id of the launcher's starter.
  init(
    _ arguments: [String] = [], as user: TestUser = .current, without features: [Feature] = [], libraries: String? = nil,
    through prefix: [String] = [],
    meanwhile: @escaping @Sendable (Int32) -> Void = { _ in }
  ) async throws {
    let folder = try FixturePlugin.Folder()
    try EscapeFixture.open(folder.url)
    var words = prefix + [try Self.launcher(for: user, in: folder)] + arguments
    if let libraries { words = ["/usr/bin/env", "LD_LIBRARY_PATH=\(libraries)"] + words }
    if !features.isEmpty {
      let without = try await Self.compileWithout(into: folder)
      words = [without] + features.map(\.rawValue) + ["--"] + words
    }
    let run = try await user.run(words[0], Array(words.dropFirst()), in: folder, meanwhile: meanwhile)
    (status, output, errors) = (run.status, run.output, run.errors)
    var (inForce, missing, refused): (Set<String>, [String: String], [String]) = ([], [:], [])
    for line in run.output.split(separator: "\n") {
      let parts = line.split(separator: ": ", maxSplits: 2).map(String.init)
      switch parts.first {
      case "in force" where parts.count == 2: inForce.insert(parts[1])
      case "missing" where parts.count > 1: missing[parts[1]] = parts.count > 2 ? parts[2] : ""
      case "refused" where parts.count == 2: refused.append(String(parts[1].prefix { $0 != "," }))
      default: break
      }
    }
    (self.inForce, self.missing, self.refused) = (inForce, missing, refused)
  }

  /// The launcher, in a folder that the user can reach. The folder of the build may belong to another one.
  private static func launcher(for user: TestUser, in folder: FixturePlugin.Folder) throws -> String {
    if case .current = user { return programs[0].path }
    for program in programs { try FileManager.default.copyItem(at: program, to: folder.file(program.lastPathComponent)) }
    return folder.file(programs[0].lastPathComponent).path
  }

  static func compileWithout(into folder: FixturePlugin.Folder) async throws -> String {
    let program = folder.file("without").path
    let source = Repository.root.appending(path: "Tests/Fixtures/Confinement/without.c").path
    let run = try await ToolRun(URL(filePath: "/usr/bin/cc"), ["-std=gnu11", "-Wall", "-Wextra", "-o", program, source])
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.errors) }
    return program
  }

  /// Compiles C code as a plugin for a worker.
  static func compile(_ code: String, into folder: FixturePlugin.Folder) async throws -> String {
    let source = folder.file("plugin.c")
    try Data("#define _GNU_SOURCE\n\(code)\n".utf8).write(to: source)
    return try await FixturePlugin.compile(at: source.path, into: folder)
  }

  /// The mapped files of a process. Foundation's `String(contentsOfFile:)` reads only the first page of such a file.
  static func maps(of process: String) -> String {
    let file = FileHandle(forReadingAtPath: "/proc/\(process)/maps")
    return String(decoding: (try? file?.readToEnd()) ?? Data(), as: UTF8.self)
  }

  /// Whether this system lets a user make namespaces and mounts. Containers often do not.
  static func hasNamespaces(_ user: TestUser) async -> Bool {
    guard let folder = try? FixturePlugin.Folder() else { return false }
    let arguments = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "true"]
    return (try? await user.run("/usr/bin/unshare", arguments, in: folder).status) == 0
  }
}
