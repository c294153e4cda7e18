import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("SHA-256")
struct ContentDigestTests {
  private func digest(_ bytes: [UInt8]) -> String {
    ContentDigest.sha256(of: bytes.span).map { String(format: "%02x", $0) }.joined()
  }

  @Test(
    "the vectors of FIPS 180-4 and of NIST's examples come out",
    arguments: [
      ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
  func vectors(text: String, times: Int, expected: String) {
    #expect(digest(Array(String(repeating: text, count: times).utf8)) == expected)
  }

  @Test("random bytes of every length up to three blocks, and some longer, have the digest sha256sum gives them")
  func lengths() async throws {
    var generator = SeededGenerator(seed: 256)
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-digest-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var (files, ours): ([String], [String]) = ([], [])
    for length in Array(0...192) + [1023, 4096, 65_537] {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let file = folder.appending(path: "\(length)")
      try Data(bytes).write(to: file)
      files.append(file.path)
      ours.append(digest(bytes))
    }
    let run = try await ToolRun(URL(filePath: "/usr/bin/sha256sum"), files)
    let theirs = run.output.split(separator: "\n").map { String($0.prefix(64)) }
    #expect(theirs.count == 196)
    #expect(ours == theirs)
  }
}
