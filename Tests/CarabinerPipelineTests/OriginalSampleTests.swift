import Foundation
import TestTools
import Testing

/// Compiles the samples of the original pages.
@Suite("The samples of the original pages", .timeLimit(.minutes(5)))
struct OriginalSampleTests {
  @Test(
    "the samples compile in language mode 5 without warnings, with Apollo as another name of the module",
    .enabled(if: OriginalPage.folder != nil, "set CARABINER_SEEDS to the folder with the original pages"),
    arguments: [("001", 5), ("002", 6), ("003", 5)])
  func compiles(page: String, count: Int) async throws {
    let samples = try #require(try OriginalPage(page)).samples(startingWith: ["class ", "struct ", "extension "])
    #expect(samples.count == count, "\(samples.map(\.head))")
    for (number, unit) in Self.units(samples).enumerated() {
      let run = try await Self.compile(unit, page)
      #expect(run.status == 0, "part \(number) of page \(page): \(run.errors)")
    }
  }

  /// The samples in parts of one module each. A type that a page declares again is a part of its own.
  private static func units(_ samples: [OriginalPage.Sample]) -> [[OriginalPage.Sample]] {
    let last = Dictionary(samples.enumerated().map { ($1.head, $0) }) { _, later in later }
    var (whole, single): ([OriginalPage.Sample], [[OriginalPage.Sample]]) = ([], [])
    for (index, sample) in samples.enumerated() {
      let isLast = sample.head.hasPrefix("extension ") || last[sample.head] == index
      if isLast { whole.append(sample) } else { single.append([sample]) }
    }
    return single + [whole]
  }

  private static func compile(_ samples: [OriginalPage.Sample], _ page: String) async throws -> ToolRun {
    var text = samples.map(\.text).joined(separator: "\n\n")
    // The guard of the page does not leave its scope, which is an error in every version of Swift.
    if page == "003" { text = text.replacing("retryHandler(false)", with: "retryHandler(false); return") }
    let types = page == "003" ? delegateTypes : pipelineTypes
    return try await OriginalPage.compile(
      ["Samples.swift": "import Apollo\nimport Foundation\n\n\(text)\n", "Types.swift": "import Apollo\n\n\(types)\n"],
      languageMode: 5, alias: "Apollo=CarabinerPipeline", systemLibraries: ["CCurl", "CCrypto", "CLinux"])
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
