import Foundation
import FuzzTargets
import TestTools
import Testing

/// All inputs that once broke a reader, and the seeds of `Scripts/scenario fuzz`.
@Suite("The corpora of the fuzzer are read without a finding")
struct CorpusTests {
  /// An input of a corpus.
  struct Input: CustomTestStringConvertible, Sendable {
    let target: FuzzTarget
    let file: URL

    var testDescription: String { "\(target.rawValue)/\(file.lastPathComponent)" }
  }

  private static let folder = Repository.root.appending(path: "Tests/Fixtures/Corpus")

  private static let inputs: [Input] = FuzzTarget.allCases.flatMap { target in
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder.appending(path: target.rawValue), includingPropertiesForKeys: nil)
    return (files ?? []).sorted { $0.path < $1.path }.map { Input(target: target, file: $0) }
  }

  @Test("every target has a corpus", arguments: FuzzTarget.allCases)
  func corpora(target: FuzzTarget) {
    #expect(Self.inputs.count { $0.target == target } >= 10)
  }

  @Test("an input has no finding, nor has its beginning, wherever it is cut", arguments: inputs)
  func replay(input: Input) throws {
    let bytes = [UInt8](try Data(contentsOf: input.file))
    try input.target.check(bytes)
    // Long inputs are cut at some places only, so that the whole test takes a few seconds.
    for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 64)) {
      try input.target.check(Array(bytes[..<length]))
    }
  }
}
