internal import Foundation
internal import TestTools

/// A file with the expected output of a command. A person has reviewed it.
///
/// `CARABINER_RECORD=1 swift test` rewrites the files. Review the difference before you commit it.
public struct GoldenFile: Sendable {
  /// The output differs from the file.
  public struct Difference: Error, CustomStringConvertible {
    public let description: String
  }

  private static let isRecording = ProcessInfo.processInfo.environment["CARABINER_RECORD"] == "1"

  private let url: URL

  /// - Parameters:
  ///   - name: A file in the folder Golden of the test target.
  ///   - source: The source file of the test. It begins with the name of the target.
  public init(_ name: String, of source: String = #fileID) {
    url = Repository.root.appending(path: "Tests/\(source.prefix { $0 != "/" })/Golden/\(name)")
  }

  /// Compares `text` with the contents of the file.
  ///
  /// - Throws: ``Difference`` if they are not equal.
  public func expect(_ text: String) throws {
    if Self.isRecording { try Data(text.utf8).write(to: url) }
    let golden = try String(contentsOf: url, encoding: .utf8)
    guard text != golden else { return }
    throw Difference(
      description: """
        \(url.lastPathComponent) differs; look at it, then record it with CARABINER_RECORD=1. The file:
        \(golden)
        The output:
        \(text)
        """)
  }
}
