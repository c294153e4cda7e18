import CarabinerBridge
import Foundation
import Glibc
import TestTools
import Testing

@Suite("Folders of staged copies that are no longer used")
struct AbandonedStagingTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private func make(_ name: String, _ files: [String]) throws -> String {
    let made = folder.url.appending(path: name)
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: false)
    for file in files { try Data("x".utf8).write(to: made.appending(path: file)) }
    return made.path
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  @Test("of a process that was killed the folder goes, half written copies too")
  func abandoned() throws {
    _ = try make("carabiner-abcDE1", ["0a.so", "0b.so.17"])
    _ = try make("carabiner-abcDE2", [])
    AbandonedStaging.remove(in: folder.url.path)
    #expect(try names == [])
  }

  @Test("a folder in use, with other files, or with another name is not removed")
  func others() throws {
    let used = try make("carabiner-inUse1", ["0a.so"])
    let lock = unsafe open(used, O_RDONLY | O_DIRECTORY)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    _ = try make("carabiner-notes1", ["notes.txt"])
    _ = try make("carabiner-worst-12", ["0a.so"])
    _ = try make("elsewhere", ["0a.so"])
    try FileManager.default.createSymbolicLink(
      atPath: folder.url.appending(path: "carabiner-aLink1").path, withDestinationPath: "elsewhere")
    try Data().write(to: folder.url.appending(path: "carabiner-aFile1"))
    let before = try names
    AbandonedStaging.remove(in: folder.url.path)
    #expect(try names == before)
    #expect(FileManager.default.fileExists(atPath: used + "/0a.so"))
    #expect(FileManager.default.fileExists(atPath: folder.url.appending(path: "elsewhere/0a.so").path))
  }

  @Test("many are removed a part at a time, so that no start waits for all")
  func many() throws {
    for number in 100_000..<(100_000 + AbandonedStaging.maximumCount + 5) { _ = try make("carabiner-\(number)", ["0a.so"]) }
    AbandonedStaging.remove(in: folder.url.path)
    #expect(try names.count == 5)
    AbandonedStaging.remove(in: folder.url.path)
    #expect(try names == [])
  }
}
