import Foundation
import Testing

/// A file with what a command printed when somebody last looked at it and found it right.
///
/// `CARABINER_RECORD=1 swift test` writes the files anew; the difference is then read before it is committed.
struct GoldenFile {
  private static let isRecording = ProcessInfo.processInfo.environment["CARABINER_RECORD"] == "1"

  private let url: URL

  init(_ name: String) {
    url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
  }

  /// Expects `text` to be what the file holds.
  func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    if Self.isRecording { try Data(text.utf8).write(to: url) }
    let golden = try String(contentsOf: url, encoding: .utf8)
    #expect(
      text == golden, "\(url.lastPathComponent) differs; look at it, then record it with CARABINER_RECORD=1",
      sourceLocation: sourceLocation)
  }
}
