import Foundation
import TestTools
import Testing

/// A plugin that breaks one rule: a file of Tests/Fixtures/Plugins/bad named after the check, with how to build it and what it brings
/// in comments.
struct BadPlugin: CustomTestStringConvertible, Sendable {
  let source: URL
  private let text: String

  static let folder = Repository.root.appending(path: "Tests/Fixtures/Plugins/bad")

  /// All of them, by name.
  static let all: [BadPlugin] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let wanted = ProcessInfo.processInfo.environment["CARABINER_CORPUS_NAMES"]?.split(separator: " ").map { "\($0).c" }
    return names.filter { $0.hasSuffix(".c") && wanted?.contains($0) ?? true }.sorted().compactMap {
      try? BadPlugin(folder.appending(path: $0))
    }
  }()

  /// Whether no names were asked for.
  static var isWhole: Bool { ProcessInfo.processInfo.environment["CARABINER_CORPUS_NAMES"] == nil }

  init(_ source: URL) throws {
    self.source = source
    text = try String(contentsOf: source, encoding: .utf8)
  }

  /// The check it breaks.
  var check: String { String(source.deletingPathExtension().lastPathComponent.prefix { $0 != "-" }) }
  /// Which checks it meets: those close to its own, or with `CARABINER_CORPUS=all` all there are.
  var selection: [String] {
    ProcessInfo.processInfo.environment["CARABINER_CORPUS"] == "all" ? ["--level", "10"] : ["--check", String(check.prefix(2))]
  }
  /// How that check ends.
  var status: String { comment("STATUS") ?? "FAIL" }
  /// What else the command needs.
  var arguments: [String] { comment("ARGUMENTS")?.split(separator: " ").map(String.init) ?? [] }
  var testDescription: String { source.lastPathComponent }

  /// Builds it into a folder.
  func build(into folder: FixturePlugin.Folder) async throws -> String {
    let output = folder.file("\(check).so").path
    let flags = (comment("CFLAGS") ?? "").split(separator: " ").map(String.init)
    let include = Repository.root.appending(path: "Sources/CCarabiner/include").path
    let usual = [
      "-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(include)", "-Wl,-z,relro,-z,now,-z,noexecstack",
    ]
    let run: ToolRun
    if let make = comment("MAKE") {
      run = try await ToolRun(
        URL(filePath: "/bin/sh"), ["-ec", make],
        environment: ["IN": source.path, "OUT": output, "CC": "cc", "CFLAGS": usual.joined(separator: " ")], in: folder.url)
    } else {
      run = try await ToolRun(URL(filePath: "/usr/bin/cc"), usual + ["-o", output, source.path] + flags + ["-lpthread"])
    }
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.errors) }
    return output
  }

  /// What stands behind a word in a comment of its own: `/* WORD: text */`.
  private func comment(_ word: String) -> String? {
    for line in text.split(separator: "\n") where line.hasPrefix("/* \(word): ") && line.hasSuffix(" */") {
      return String(line.dropFirst(word.count + 5).dropLast(3))
    }
    return nil
  }
}
