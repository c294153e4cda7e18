import TestTools
import Testing

/// Compiles the samples of the original page.
@Suite("The samples of the original page of Connect", .timeLimit(.minutes(5)))
struct OriginalSampleTests {
  @Test(
    "the samples compile without warnings in each language mode, with Connect as another name of the module", .rule("connect.9"),
    .enabled(if: OriginalPage.folder != nil, "set CARABINER_SEEDS to the folder with the original pages"),
    arguments: [5, 6])
  func compiles(languageMode: Int) async throws {
    let samples = try #require(try OriginalPage("004")).samples(startingWith: ["final class ", "let "])
    #expect(samples.count == 2, "\(samples.map(\.head))")
    let run = try await OriginalPage.compile(
      [
        "Samples.swift": "import Connect\n\n\(samples.map(\.text).joined(separator: "\n\n"))\n", "Types.swift": Self.types,
      ],
      languageMode: languageMode, alias: "Connect=CarabinerConnect",
      systemLibraries: ["CCurl", "CCrypto", "CLinux", "CZlib"])
    #expect(run.status == 0, "\(run.errors)")
  }

  /// The functions that the page supposes a program to have.
  private static let types = """
    func fetchUserToken(forPath path: String, _ done: @escaping @Sendable (String?) -> Void) { done("token") }

    """
}
