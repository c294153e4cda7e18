import Foundation
import TestTools
import Testing

/// A file of Tests/Fixtures/Plugins/escapes: attempts of a plugin to affect something outside its process.
struct EscapeFixture: CustomTestStringConvertible, Sendable {
  let name: String

  static let all = ["processes", "sockets", "files", "kernel"].map(EscapeFixture.init)
  /// The range includes the attempt numbers of every fixture.
  private static let numbers = 1...200

  var testDescription: String { name }

  /// A folder that does not belong to the plugin and that any process may change, with a file and a folder for each attempt.
  static func outside() throws -> FixturePlugin.Folder {
    let folder = try FixturePlugin.Folder()
    try open(folder.url)
    for number in numbers {
      let (file, inner) = (folder.file("file-\(number)"), folder.file("folder-\(number)"))
      try Data("x".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file.path)
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
      try open(inner)
    }
    return folder
  }

  static func open(_ folder: URL) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
  }

  /// Lets every user create files that only their owners can replace. The harness trusts no other kind of shared folder.
  static func share(_ folder: URL) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.path)
  }

  /// Compiles it as a plugin.
  ///
  /// - Parameter isForWorker: The constructor makes all attempts, because a worker only maps the plugin.
  func plugin(outside: FixturePlugin.Folder, into folder: FixturePlugin.Folder, isForWorker: Bool = false) async throws -> String
  {
    let root = Repository.root.path
    return try await compile(
      (isForWorker ? ["-DWORKER"] : []) + [
        "-fPIC", "-shared", "-fvisibility=hidden", "-I\(root)/Sources/CCarabiner/include", "-I\(root)/Tests/Fixtures/Plugins/bad",
      ], folder.file("\(name).so").path, outside)
  }

  /// Compiles it as a program that makes the same attempts without confinement.
  func program(outside: FixturePlugin.Folder, into folder: FixturePlugin.Folder) async throws -> String {
    try await compile(["-DPROGRAM"], folder.file(name).path, outside)
  }

  private func compile(_ options: [String], _ output: String, _ outside: FixturePlugin.Folder) async throws -> String {
    let source = BadPlugin.fixtures.appending(path: "escapes/\(name).c").path
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/cc"),
      ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wno-unused-function", "-DOUTSIDE=\"\(outside.url.path)\""] + options + [
        "-o", output, source, "-lpthread", "-lrt",
      ])
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.errors) }
    return output
  }
}

/// The numbers of successful and of all attempts, parsed from the fixture's output.
struct EscapeCount: Hashable {
  let succeeded: Int
  let tried: Int

  /// - Parameter place: Where the attempts were made: `constructor`, `create`, `thread` or `program`.
  init?(_ text: String, in place: String) {
    for line in text.split(separator: "\n") {
      guard let found = line.wholeMatch(of: /in (\w+) (\d+) of (\d+)/), found.1 == place, let succeeded = Int(found.2),
        let tried = Int(found.3)
      else { continue }
      self.succeeded = succeeded
      self.tried = tried
      return
    }
    return nil
  }
}

/// The user that runs a program.
enum TestUser: String, CaseIterable, CustomTestStringConvertible, Sendable {
  /// The user that runs the tests.
  case current
  /// Another user without rights; only root can become it.
  case ordinary

  var testDescription: String { rawValue }

  /// A user id that the harness does not use for its child processes.
  private static let number = "65533"

  private static let change = ["--reuid=\(number)", "--regid=\(number)", "--clear-groups"]

  /// Runs a program as this user.
  ///
  /// - Parameters:
  ///   - folder: A folder in which every user may create files.
  ///   - meanwhile: Called with the process id when the program runs.
  func run(
    _ program: String, _ arguments: [String], in folder: FixturePlugin.Folder,
    meanwhile: @escaping @Sendable (Int32) -> Void = { _ in }
  ) async throws -> ToolRun {
    let (environment, directory) = (["XDG_RUNTIME_DIR": folder.url.path], folder.url)
    let words = self == .current ? [program] + arguments : ["/usr/bin/setpriv"] + Self.change + [program] + arguments
    return try await ToolRun(
      URL(filePath: words[0]), Array(words.dropFirst()), environment: environment, in: directory, meanwhile: meanwhile)
  }

  /// The users available on this machine. The other user needs root, `setpriv`, and access to the command and to a folder.
  static func available(in folder: FixturePlugin.Folder) async -> [TestUser] {
    guard geteuid() == 0 else { return [.current] }
    let run = try? await TestUser.ordinary.run(Repository.command.path, ["--version"], in: folder)
    return run?.status == 0 ? allCases : [.current]
  }
}
