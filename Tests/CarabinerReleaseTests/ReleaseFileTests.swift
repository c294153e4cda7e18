import CarabinerRelease
import Foundation
import TestTools
import Testing

@Suite("Sidecar files")
struct ReleaseFileTests {
  @Test(
    "a sidecar that is missing is none, and one that is not a regular file is refused without waiting for a writer",
    .rule("signature.5"))
  func irregular() throws {
    let folder = try FixturePlugin.Folder()
    let path = folder.file("stamp.so.release").path
    #expect(try ReleaseFile.sidecar(at: path) == nil)
    try #require(unsafe mkfifo(path, 0o600) == 0)
    #expect(try code { _ = try ReleaseFile.sidecar(at: path) } == .unreadable)
    #expect(try code { _ = try ReleaseFile.sidecar(at: folder.url.path) } == .unreadable)
  }

  @Test("of a sidecar of 4 MiB, no more than the limit is read", .rule("signature.11"))
  func large() throws {
    let folder = try FixturePlugin.Folder()
    let path = folder.file("stamp.so.release").path
    try Data(repeating: UInt8(ascii: "A"), count: 4 << 20).write(to: URL(filePath: path))
    #expect(try code { _ = try ReleaseFile.sidecar(at: path) } == .signature)
  }
}
