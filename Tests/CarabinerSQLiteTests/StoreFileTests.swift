import Carabiner
import CarabinerSQLite
import Foundation
import Glibc
import Testing

/// Checks which other users could change the store.
@Suite("The file of a store")
struct StoreFileTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("store.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func refusal(of path: String, isReadOnly: Bool = false, mayBeForeign: Bool = false) -> StoreError? {
    do {
      _ = try SQLiteNormalizedCache(path: path, isReadOnly: isReadOnly, mayBeForeign: mayBeForeign)
      return nil
    } catch {
      return error as? StoreError
    }
  }

  private func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test("a file every user may write to is refused, for reading and for writing", arguments: [true, false])
  func writable(isReadOnly: Bool) throws {
    #expect(refusal(of: path) == nil)
    unsafe chmod(path, 0o666)
    let refused = refusal(of: path, isReadOnly: isReadOnly)
    #expect(refused?.code == .unsafe)
    #expect(refused?.message.contains("mode 666") == true, "\(refused?.message ?? "")")
    // Permissions of the group and for reading are the owner's choice.
    unsafe chmod(path, 0o664)
    #expect(refusal(of: path, isReadOnly: isReadOnly) == nil)
  }

  @Test("a file of another user is refused, unless root looks after it")
  func owner() throws {
    // Only root can change the owner of a file.
    guard geteuid() == 0 else { return }
    #expect(refusal(of: path) == nil)
    unsafe chown(path, 65_534, 65_534)
    let refused = refusal(of: path)
    #expect(refused?.code == .unsafe)
    #expect(refused?.message.contains("belongs to user 65534") == true, "\(refused?.message ?? "")")
    #expect(refusal(of: path, isReadOnly: true, mayBeForeign: true) == nil)
  }

  @Test(
    "a log that is there before the database, and that others could write to, is refused",
    arguments: ["-wal", "-shm", "-journal"])
  func log(suffix: String) throws {
    #expect(refusal(of: path) == nil)
    #expect(FileManager.default.createFile(atPath: path + suffix, contents: nil))
    unsafe chmod(path + suffix, 0o666)
    #expect(refusal(of: path)?.code == .unsafe)
    unsafe unlink(path + suffix)
    try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: folder.file("elsewhere"))
    #expect(refusal(of: path)?.code == .unsafe)
    #expect(!FileManager.default.fileExists(atPath: folder.file("elsewhere")))
    unsafe unlink(path + suffix)
    #expect(refusal(of: path) == nil)
  }

  @Test("a folder others may write to is refused, also if only a link to the file is in it")
  func parent() throws {
    let open = folder.file("open")
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
    unsafe chmod(open, 0o777)
    #expect(refusal(of: "\(open)/store.sqlite")?.code == .unsafe)
    #expect(!FileManager.default.fileExists(atPath: "\(open)/store.sqlite"))
    try FileManager.default.createSymbolicLink(atPath: "\(open)/link.sqlite", withDestinationPath: path)
    #expect(refusal(of: "\(open)/link.sqlite")?.code == .unsafe)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("a file that is made at the end of a symbolic link is for its owner alone, and so is its log")
  func link() async throws {
    let link = folder.file("link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "store.sqlite")
    let cache = try SQLiteNormalizedCache(path: link)
    _ = try await cache.merge(records: RecordSet([Record(key: "a", fields: ["x": Data("1".utf8)])]))
    for file in [path, path + "-wal"] { #expect(try mode(of: file) == 0o600, "\(file)") }
    #expect(!FileManager.default.fileExists(atPath: link + "-wal"))
    #expect(try (cache.statistics().logBytes ?? 0) > 0)
  }
}
