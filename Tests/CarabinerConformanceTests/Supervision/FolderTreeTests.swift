import Foundation
import Testing

@testable import CarabinerConformance

/// Folders with contents that are hard to remove.
@Suite("Folders of children")
struct FolderTreeTests {
  @Test("a folder goes with its value, whatever is in it")
  func removed() throws {
    let manager = FileManager.default
    let outside = manager.temporaryDirectory.appending(path: "carabiner-kept-\(UUID().uuidString)")
    try Data("kept".utf8).write(to: outside)
    defer { try? manager.removeItem(at: outside) }
    var path = ""
    do {
      let folder = try ScratchFolder(for: .writing, in: manager.temporaryDirectory.path)
      path = folder.path
      try manager.createDirectory(
        atPath: path + String(repeating: "/a-folder-in-a-folder", count: 150), withIntermediateDirectories: true)
      try manager.createDirectory(atPath: "\(path)/locked", withIntermediateDirectories: false)
      try Data("x".utf8).write(to: URL(filePath: "\(path)/locked/file"))
      unsafe chmod("\(path)/locked", 0)
      unsafe symlink(outside.path, "\(path)/link")
      #expect(manager.fileExists(atPath: path))
    }
    #expect(!path.isEmpty && !manager.fileExists(atPath: path))
    #expect(try String(contentsOf: outside, encoding: .utf8) == "kept")
  }

  @Test("a folder is open only to its user, and if that is root, to the user of the child", arguments: [true, false])
  func rights(_ isWritten: Bool) throws {
    let folder = try ScratchFolder(for: isWritten ? .writing : .reading)
    var status = stat()
    #expect(unsafe stat(folder.path, &status) == 0)
    #expect(status.st_mode & 0o777 == (geteuid() == 0 && !isWritten ? 0o750 : 0o700))
    guard geteuid() == 0 else { return }
    #expect(status.st_gid == Confinement.group)
    #expect(status.st_uid == (isWritten ? Confinement.user : 0))
    #expect(ScratchFolder.isOpenToOthers((folder.path as NSString).deletingLastPathComponent))
    #expect(!ScratchFolder.isOpenToOthers(folder.path))
  }

  @Test("no folder is made where another user could replace it", arguments: [0o777, 0o775, 0o757])
  func untrusted(_ mode: UInt32) throws {
    let manager = FileManager.default
    let parent = manager.temporaryDirectory.appending(path: "carabiner-parent-\(UUID().uuidString)").path
    let link = "\(parent)-link"
    try manager.createDirectory(atPath: parent, withIntermediateDirectories: false)
    unsafe symlink(parent, link)
    defer { for path in [parent, link] { try? manager.removeItem(atPath: path) } }
    unsafe chmod(parent, mode)
    for path in [parent, link] {
      #expect(throws: ConformanceError.self) { try ScratchFolder(for: .writing, in: path) }
    }
    unsafe chmod(parent, mode | S_ISVTX)
    #expect(throws: Never.self) { try ScratchFolder(for: .writing, in: parent) }
    unsafe chmod(parent, 0o755)
    #expect(throws: Never.self) { try ScratchFolder(for: .writing, in: link) }
    guard geteuid() == 0 else { return }
    unsafe chown(parent, 65_534, 65_534)
    #expect(throws: ConformanceError.self) { try ScratchFolder(for: .reading, in: parent) }
    #expect(try manager.contentsOfDirectory(atPath: parent) == [])
  }

  @Test("a text of a child in the record has no control characters")
  func record() throws {
    let record = try #require(ChildStatusRecord(nonce: "6d1f"))
    #expect(record.hook == "" && record.step == "")
    let bytes: [UInt8] = [0x1B, 0x5B, 0x41, 0xFF, 0x0A, 0x7F, 0x42, 0, 0x43]
    let text = unsafe bytes.withUnsafeBytes { unsafe ChildStatusRecord.text(in: $0) }
    #expect(text == #"\u001b[A\#u{FFFD}\n\u007fB"#)
  }
}
