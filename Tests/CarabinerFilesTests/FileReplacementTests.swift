import CarabinerFiles
import Foundation
import TestTools
import Testing

@Suite("Replacing files")
struct FileReplacementTests {
  private func mode(_ url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
  }

  /// The reason why a file is not replaced; nil if it is.
  private func reason(_ url: URL) throws -> String? {
    do throws(FileReplacement.Fault) {
      try FileReplacement.write([1], to: url.path)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test("A file is created, and replaced with other bytes and permissions", arguments: [0, 1, 100_000])
  func replacing(count: Int) throws {
    let folder = try FixturePlugin.Folder()
    let file = folder.file("state")
    try FileReplacement.write([1, 2, 3], to: file.path)
    #expect(try Array(Data(contentsOf: file)) == [1, 2, 3])
    #expect(try mode(file) == 0o600)
    let bytes = [UInt8](repeating: 7, count: count)
    try FileReplacement.write(bytes, to: file.path, mode: 0o500)
    #expect(try Array(Data(contentsOf: file)) == bytes)
    #expect(try mode(file) == 0o500)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["state"])
  }

  @Test("A reader of the old file reads it to its end, and a symbolic link is replaced and not followed")
  func oldFile() throws {
    let folder = try FixturePlugin.Folder()
    let (file, target) = (folder.file("state"), folder.file("target"))
    try Data("old".utf8).write(to: target)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
    let reader = try FileHandle(forReadingFrom: file)
    try FileReplacement.write(Array("new".utf8), to: file.path)
    #expect(try reader.readToEnd() == Data("old".utf8))
    #expect(try String(contentsOf: file, encoding: .utf8) == "new")
    #expect(try String(contentsOf: target, encoding: .utf8) == "old")
  }

  @Test("After an error the old file is unchanged, and nothing is left behind")
  func failure() throws {
    let folder = try FixturePlugin.Folder()
    #expect(try reason(folder.file("no/state")) == "No such file or directory")
    // A folder has the name.
    try FileManager.default.createDirectory(at: folder.file("state"), withIntermediateDirectories: false)
    #expect(try reason(folder.file("state")) == "Is a directory")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["state"])
  }

  @Test("Of several writers at once, one whole file remains")
  func atOnce() async throws {
    let folder = try FixturePlugin.Folder()
    let path = folder.file("state").path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in UInt8(0)..<8 {
        group.addTask { for _ in 0..<20 { try FileReplacement.write([UInt8](repeating: writer, count: 10_000), to: path) } }
      }
      try await group.waitForAll()
    }
    let bytes = try Array(Data(contentsOf: folder.file("state")))
    #expect(bytes.count == 10_000 && Set(bytes).count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["state"])
  }
}
