import CarabinerFiles
import Foundation
import TestTools
import Testing

@Suite("Listing folders")
struct FolderListingTests {
  @Test("names are sorted, and links to folders are neither files nor folders")
  func kinds() throws {
    let folder = try FixturePlugin.Folder()
    try Data().write(to: folder.file("b"))
    try Data().write(to: folder.file(".a"))
    try FileManager.default.createDirectory(at: folder.file("c"), withIntermediateDirectories: false)
    for (name, target) in [("d", "b"), ("e", "c"), ("f", "none")] {
      try FileManager.default.createSymbolicLink(atPath: folder.file(name).path, withDestinationPath: target)
    }
    let entries = try FolderListing.entries(of: folder.url.path, maximum: 6)
    #expect(entries.map(\.name) == [".a", "b", "c", "d", "e", "f"])
    #expect(entries.map(\.kind) == [.file, .file, .folder, .file, .other, .other])
    #expect(throws: BoundedFile.Fault.tooLarge) { try FolderListing.entries(of: folder.url.path, maximum: 5) }
  }

  @Test("a folder that does not exist is a fault", arguments: ["none", "file"])
  func absent(_ name: String) throws {
    let folder = try FixturePlugin.Folder()
    try Data().write(to: folder.file("file"))
    #expect(throws: BoundedFile.Fault.self) { try FolderListing.entries(of: folder.file(name).path, maximum: 5) }
  }
}
