import Foundation
import Testing

/// A file with the expected output of a command. A person has reviewed it.
///
/// `CARABINER_RECORD=1 swift test` rewrites the files. Review the difference before you commit it.
struct GoldenFile {
  private static let isRecording = ProcessInfo.processInfo.environment["CARABINER_RECORD"] == "1"

  private let url: URL

  init(_ name: String) {
    url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
  }

  /// Expects `text` to be equal to the contents of the file.
  func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    if Self.isRecording { try Data(text.utf8).write(to: url) }
    let golden = try String(contentsOf: url, encoding: .utf8)
    #expect(
      text == golden, "\(url.lastPathComponent) differs; look at it, then record it with CARABINER_RECORD=1",
      sourceLocation: sourceLocation)
  }
}
