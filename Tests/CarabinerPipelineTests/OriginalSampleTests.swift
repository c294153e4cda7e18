import Foundation
import TestTools
import Testing

/// Compiles the samples of the original pages, which are not part of this repository.
///
/// `CARABINER_SEEDS` names the folder with the pages: text files whose names begin with 001, 002 and 003.
@Suite("The samples of the original pages", .timeLimit(.minutes(5)))
struct OriginalSampleTests {
  /// The folder with the pages; nil if the variable is not set.
  static let folder = ProcessInfo.processInfo.environment["CARABINER_SEEDS"].map {
    URL(filePath: $0, directoryHint: .isDirectory)
  }

  @Test(
    "J0.2, J0.3, J0.4, J0.5: the samples compile in language mode 5 without warnings, with Apollo as another name of the module",
    .enabled(if: folder != nil, "set CARABINER_SEEDS to the folder with the original pages"),
    arguments: [("001", 5), ("002", 6), ("003", 5)])
  func compiles(page: String, count: Int) async throws {
    let samples = try Self.samples(of: page)
    #expect(samples.count == count, "\(samples.map(\.head))")
    for (number, unit) in Self.units(samples).enumerated() {
      let run = try await Self.compile(unit, page)
      #expect(run.status == 0, "part \(number) of page \(page): \(run.errors)")
    }
  }

  /// A declaration of a page.
  struct Sample {
    let text: String

    /// The first line, up to the brace.
    var head: String { String(text.prefix { $0 != "{" && $0 != ":" }).trimmingCharacters(in: .whitespaces) }
  }

  /// The types and extensions of a page, which begin in the first column and end with their last brace.
  static func samples(of page: String) throws -> [Sample] {
    let folder = try #require(folder)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let file = try #require(files.first { $0.lastPathComponent.hasPrefix(page) })
    var (samples, lines, depth): ([Sample], [Substring], Int) = ([], [], 0)
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
      let isStart = ["class ", "struct ", "extension "].contains { line.hasPrefix($0) } && line.contains("{")
      guard !lines.isEmpty || isStart else { continue }
      lines.append(line)
      depth += line.count { $0 == "{" } - line.count { $0 == "}" }
      guard depth == 0 else { continue }
      samples.append(Sample(text: lines.joined(separator: "\n")))
      lines = []
    }
    return samples
  }

  /// The samples in parts of one module each. A type that a page declares again is a part of its own.
  static func units(_ samples: [Sample]) -> [[Sample]] {
    let last = Dictionary(samples.enumerated().map { ($1.head, $0) }) { _, later in later }
    var (whole, single): ([Sample], [[Sample]]) = ([], [])
    for (index, sample) in samples.enumerated() {
      let isLast = sample.head.hasPrefix("extension ") || last[sample.head] == index
      if isLast { whole.append(sample) } else { single.append([sample]) }
    }
    return single + [whole]
  }

  private static func compile(_ samples: [Sample], _ page: String) async throws -> ToolRun {
    let folder = try FixturePlugin.Folder()
    var text = samples.map(\.text).joined(separator: "\n\n")
    // The guard of the page does not leave its scope, which is an error in every version of Swift.
    if page == "003" { text = text.replacing("retryHandler(false)", with: "retryHandler(false); return") }
    let types = page == "003" ? delegateTypes : pipelineTypes
    try Data("import Apollo\nimport Foundation\n\n\(text)\n".utf8).write(to: folder.file("Samples.swift"))
    try Data("import Apollo\n\n\(types)\n".utf8).write(to: folder.file("Types.swift"))
    let build = Repository.root.appending(path: ".build/debug/Modules").path
    let systemLibraries = ["CCurl", "CCrypto", "CLinux"].flatMap {
      ["-I", Repository.root.appending(path: "Sources/\($0)").path]
    }
    return try await ToolRun(
      URL(filePath: "/usr/bin/env"),
      [
        "swiftc", "-swift-version", "5", "-warnings-as-errors", "-parse-as-library", "-wmo", "-module-name", "Samples",
        "-module-alias", "Apollo=CarabinerPipeline", "-I", build,
      ] + systemLibraries + [
        "-c", folder.file("Samples.swift").path, folder.file("Types.swift").path, "-o", folder.file("samples.o").path,
      ])
  }

  /// The types that the pages 001 and 002 suppose a program to have.
  private static let pipelineTypes = """
    struct Token {
      let value: String
      let isExpired: Bool
    }

    class UserManager {
      static let shared = UserManager()
      var token: Token?

      func renewToken(_ done: @escaping (Result<Token, Error>) -> Void) { done(.success(Token(value: "", isExpired: false))) }
    }

    \(logger)
    """

  /// The types that the page 003 supposes a program to have.
  private static let delegateTypes = """
    class UserManager {
      static let shared = UserManager()
      var hasAuthenticatedUser = true
      var currentAuthToken = ""

      func requiresReAuthentication(basedOn error: Error, response: URLResponse?) -> Bool { response?.statusCode == 401 }
      func reAuthenticate(_ done: @escaping (Bool) -> Void) { done(true) }
    }

    \(logger)
    """

  private static let logger = """
    enum Logger {
      enum Level { case debug, error, always }

      static func log(_ level: Level, _ text: String) {}
    }
    """
}
