import CarabinerRelease
import Foundation
import TestTools
import Testing

@Suite("Files of serials")
struct SerialFileTests {
  @Test("a record is written and read again, and a file that is not there is an empty record", .rule("signature.7"))
  func writing() throws {
    let folder = try FixturePlugin.Folder()
    let file = SerialFile(path: folder.file("serials").path)
    #expect(try file.read() == SerialRecord())
    var record = SerialRecord()
    for serial in [7, 8] {
      record.keep(try SampleRelease.statement(serial: serial))
      try file.write(record)
      #expect(try file.read() == record)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["serials"])
    let mode = try FileManager.default.attributesOfItem(atPath: folder.file("serials").path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("a file that is malformed, or that others may write to, is not read as an empty record", .rule("signature.7"))
  func refused() throws {
    let folder = try FixturePlugin.Folder()
    let file = SerialFile(path: folder.file("serials").path)
    try file.write(SerialRecord())
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.file("serials").path)
    #expect(try code { _ = try file.read() } == .unsafeFile)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("serials").path)
    try Data("carabiner-serials 1\nplugin:a".utf8).write(to: folder.file("serials"))
    #expect(try code { _ = try file.read() } == .invalidFile)
  }

  @Test("a record that cannot be written is an error, and the old one stays", .rule("signature.7"))
  func unwritable() throws {
    let folder = try FixturePlugin.Folder()
    #expect(try code { try SerialFile(path: folder.file("no/serials").path).write(SerialRecord()) } == .notWritten)
    // A folder is in the place of the file.
    try FileManager.default.createDirectory(at: folder.file("serials"), withIntermediateDirectories: false)
    #expect(try code { try SerialFile(path: folder.file("serials").path).write(SerialRecord()) } == .notWritten)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["serials"])
  }
}
