import Foundation
import TestTools
import Testing

/// A plugin that breaks one rule: a file of Tests/Fixtures/Plugins/bad named after the check, with its build options and expectations
/// in comments. Plugins of Tests/Fixtures/Plugins/good are built in the same way and break no rule.
struct BadPlugin: CustomTestStringConvertible, Sendable {
  /// The language of a plugin, by the extension of its file.
  enum Language: String, CaseIterable, Sendable {
    case c
    case cpp
    case rust = "rs"
    case swift
  }

  let source: URL
  let language: Language
  private let text: String

  static let fixtures = Repository.root.appending(path: "Tests/Fixtures/Plugins")

  /// All plugins that break a rule, by name.
  static let all = plugins(in: "bad").filter { plugin in
    let wanted = ProcessInfo.processInfo.environment["CARABINER_CORPUS_NAMES"]?.split(separator: " ").map(String.init)
    return wanted.map { $0.contains(plugin.name) || $0.contains(plugin.testDescription) } ?? true
  }

  /// The plugins that break no rule: one for each language, with all four stages.
  static let good = plugins(in: "good")

  /// Plugins on a kit that suspend every hook. The kit has to finish the hooks.
  static let waiting = plugins(in: "waiting")

  /// Whether all plugins are tested: `CARABINER_CORPUS_NAMES` selects some.
  static var isWhole: Bool { ProcessInfo.processInfo.environment["CARABINER_CORPUS_NAMES"] == nil }

  /// Whether `Scripts/scenario corpus` runs the tests, which takes an hour.
  static let isLong = ProcessInfo.processInfo.environment["CARABINER_CORPUS"] == "all"

  /// How often a plugin is tested that breaks no rule.
  static let rounds = isLong ? 3 : 1

  private static func plugins(in folder: String) -> [BadPlugin] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: fixtures.appending(path: folder).path)) ?? []
    return names.sorted().compactMap { try? BadPlugin(fixtures.appending(path: "\(folder)/\($0)")) }
  }

  /// - Throws: If the file cannot be read, or is not a plugin. The names of shared files begin with `sound`.
  init(_ source: URL) throws {
    guard let language = Language(rawValue: source.pathExtension), source.deletingPathExtension().lastPathComponent != "sound"
    else { throw CocoaError(.fileReadUnsupportedScheme) }
    self.source = source
    self.language = language
    text = try String(contentsOf: source, encoding: .utf8)
  }

  /// The file's name without its extension.
  var name: String { source.deletingPathExtension().lastPathComponent }
  /// The id of a plugin on a kit.
  var id: String? { text.firstMatch(of: /id: "([^"]+)"/).map { String($0.1) } }
  /// The check it breaks.
  var check: String { String(name.prefix { $0 != "-" }) }
  /// The checks to run: its own, or all with `CARABINER_CORPUS=all`. With a check that needs many calls, the other checks would take
  /// minutes.
  var selection: [String] {
    if let only = comment("ONLY") { return ["--check", only] }
    guard Self.isLong else { return ["--check", check] }
    // A fuzzed case can break any rule, not only the intended one.
    return ["--level", "10"] + (check == "FZ01" ? [] : ["--fuzz", "0"])
  }
  /// The expected status of that check.
  var status: String { comment("STATUS") ?? "FAIL" }
  /// Further arguments of the command.
  var arguments: [String] { comment("ARGUMENTS")?.split(separator: " ").map(String.init) ?? [] }
  var testDescription: String { source.lastPathComponent }

  /// Appends the result of a plugin at once to the file set by `Scripts/scenario corpus`, because the output of tests is buffered.
  static func say(_ line: String) {
    // Several tests write at the same time, so each line is one write.
    guard let path = ProcessInfo.processInfo.environment["CARABINER_CORPUS_LOG"], let file = unsafe fopen(path, "a") else {
      return
    }
    unsafe fputs("\(line)\n", file)
    unsafe fclose(file)
  }

  /// The text after a word in a comment on its own line: `/* WORD: text */` or `// WORD: text`.
  func comment(_ word: String) -> String? {
    for line in text.split(separator: "\n") {
      if line.hasPrefix("/* \(word): "), line.hasSuffix(" */") { return String(line.dropFirst(word.count + 5).dropLast(3)) }
      if line.hasPrefix("// \(word): ") { return String(line.dropFirst(word.count + 5)) }
    }
    return nil
  }
}
