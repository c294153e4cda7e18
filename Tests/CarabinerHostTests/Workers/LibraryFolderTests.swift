import Foundation
import TestTools
import Testing

@testable import CarabinerHost

@Suite("Folders of libraries that a worker may read")
struct LibraryFolderTests {
  private let folder: FixturePlugin.Folder

  init() async throws {
    folder = try FixturePlugin.Folder()
    for name in ["libraries", "other"] {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: false)
    }
    _ = try await FixturePlugin.compile("library", defining: ["NUMBER=1"], into: folder, name: "libraries/libneeded.so")
    try Data("root:x:0:0\n".utf8).write(to: folder.file("other/secrets"))
    // A name without the content of a library.
    try Data("no library\n".utf8).write(to: folder.file("other/libneeded.so"))
  }

  private func folders(_ searchPaths: String..., libraries: [String] = ["libc.so.6", "libneeded.so"]) -> [String] {
    LibraryFolders.of(DynamicLinks(libraries: libraries, searchPaths: searchPaths))
  }

  @Test("W16: a RUNPATH folder with a library that the plugin needs is readable, each once")
  func needed() {
    let path = folder.file("libraries").path
    #expect(folders(path, path) == [path])
    #expect(folders("\(path)/") == ["\(path)/"])
    #expect(folders(path, libraries: ["libc.so.6"]) == [])
  }

  @Test("W16: a plugin does not get to read a folder by naming it, nor the system, nor by ways around")
  func hostile() {
    let (libraries, other) = (folder.file("libraries").path, folder.file("other").path)
    #expect(folders(other) == [])
    #expect(folders(other, libraries: ["secrets", "../libraries/libneeded.so", ""]) == [])
    #expect(folders("/", "/etc", "/proc/self", "/dev/fd", "/sys", "", "libraries", "$ORIGIN") == [])
    #expect(folders("/proc/self/root\(libraries)") == [])
    #expect(folders("\(other)/../libraries", "\(libraries)/.", "\(libraries)\0", "\(libraries)/$LIB") == [])
  }

  @Test("W16: the number of folders is limited")
  func limit() throws {
    var paths: [String] = []
    for number in 0..<LibraryFolders.maximumCount + 3 {
      let path = folder.file("copy\(number)")
      try FileManager.default.copyItem(at: folder.file("libraries"), to: path)
      paths.append(path.path)
    }
    let found = LibraryFolders.of(DynamicLinks(libraries: ["libneeded.so"], searchPaths: paths))
    #expect(found == Array(paths.prefix(LibraryFolders.maximumCount)))
  }
}
