import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import Foundation
import TestTools
import Testing

@Suite("Loading a plugin")
struct LoadingTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private func refusal(of path: String, pin: String? = nil, mode: StagedCopy.Mode = .directory) -> HostError? {
    do {
      _ = try PluginLibrary.load(path: path, pin: pin, mode: mode)
      return nil
    } catch {
      return error
    }
  }

  @Test("a good plugin loads from a staged copy and from sealed memory", arguments: [StagedCopy.Mode.directory, .memfd])
  func good(mode: StagedCopy.Mode) async throws {
    // Two builds, so that the second mode does not find the library of the first.
    let path = try await FixturePlugin.compile("loading", defining: ["MODE_\(mode.rawValue)"], into: folder)
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(mode.rawValue.utf8))
    try handle.close()
    let library = try PluginLibrary.load(path: path, mode: mode)
    #expect(library.note.id == "org.carabiner.test.loading")
    #expect(library.interceptors.map(\.stages) == [["graphql"]])
    #expect(library.digest.count == 64)
  }

  @Test(
    "a plugin with one thing wrong is refused for that reason",
    arguments: [
      ("NO_NOTE", HostError.Code.noNote), ("NOTE_BROKEN", .badNote), ("NOTE_OTHER_ID", .badTable), ("NOTE_NEWER", .abiTooNew),
      ("NOTE_MAJOR", .abiMajor), ("NO_ENTRY", .noEntry), ("ENTRY_NULL", .entryRefused), ("NULL_SLOT", .badTable),
      ("SMALL_TABLE", .badTable), ("SMALL_INTERCEPTOR", .badTable), ("NO_STAGE", .badTable), ("NO_INTERCEPTORS", .badTable),
      ("TABLE_NEWER", .abiTooNew), ("TABLE_MAJOR", .abiMajor), ("INIT_FAILS", .initFailed), ("UNRESOLVED", .openFailed),
      ("SMALL_STAGE", .badTable), ("BAD_THREADS", .badTable), ("BAD_ID", .badTable), ("NO_VERSION", .badTable),
      ("NO_CREATE", .badTable), ("TWICE", .badTable), ("NULL_ITEM", .badTable), ("ENTRY_IS_DATA", .noEntry),
    ])
  func oneThingWrong(definition: String, code: HostError.Code) async throws {
    let path = try await FixturePlugin.compile("loading", defining: [definition], into: folder)
    let refusal = try #require(refusal(of: path) as HostError?)
    #expect(refusal.code == code)
    #expect(refusal.path == path)
    #expect(!refusal.step.isEmpty)
  }

  @Test(
    "the message names the mandatory slot that is NULL",
    arguments: [
      ("NULL_SLOT", "graphql.on_request"), ("NULL_HTTP_SLOT", "http.on_request"), ("NULL_CACHE_SLOT", "cache.on_read"),
      ("NULL_PARSER_SLOT", "parser.on_head"),
    ])
  func slotIsNamed(definition: String, slot: String) async throws {
    let path = try await FixturePlugin.compile("loading", defining: [definition], into: folder)
    let refusal = try #require(refusal(of: path) as HostError?)
    #expect(refusal.code == .badTable)
    #expect(refusal.message.contains(slot), "\(refusal.message)")
  }

  @Test(
    "a parser's addition to Accept is a list of media types",
    arguments: [
      ("application/cbor", true), ("application/cbor;q=0.9, text/*", true), ("", false), ("cbor", false), ("a/b,", false),
      ("a/b\\r\\nX: y", false), ("a/b\\303\\251", false), ("a/" + String(repeating: "b", count: 254), true),
      ("a/" + String(repeating: "b", count: 255), false),
    ])
  func accept(_ text: String, isTaken: Bool) async throws {
    for isOld in [false, true] {
      let definitions = ["ACCEPT=\"\(text)\""] + (isOld ? ["OLD_PARSER"] : [])
      let path = try await FixturePlugin.compile("loading", defining: definitions, into: folder)
      // A table of an older header ends before this field.
      guard isTaken || isOld else {
        let refusal = try #require(refusal(of: path) as HostError?)
        #expect(refusal.code == .badTable && refusal.message.contains("accept"), "\(refusal.message)")
        continue
      }
      let interceptor = try #require(try PluginLibrary.load(path: path).interceptors.first)
      #expect((interceptor.accept != nil) == !isOld)
    }
  }

  @Test("every refusal names the file, the step and what to do, and no refusal runs twice into the same library")
  func refusalIsRepeated() async throws {
    let path = try await FixturePlugin.compile("loading", defining: ["NULL_SLOT"], into: folder)
    let first = try #require(refusal(of: path) as HostError?)
    let second = try #require(refusal(of: path) as HostError?)
    #expect(first.description == second.description)
    #expect(first.description.hasPrefix("\(path): "))
    #expect(first.description.contains("step table"))
    #expect(first.message.contains("ask the plugin's author"))
  }

  @Test("files that are not shared objects are refused")
  func noSharedObject() throws {
    let text = folder.file("text.so")
    try Data("hello".utf8).write(to: text)
    #expect(refusal(of: text.path)?.code == .notELF)
    #expect(refusal(of: folder.url.path)?.code == .notAFile)
    #expect(refusal(of: folder.file("absent.so").path)?.code == .notFound)
    let pipe = folder.file("pipe.so").path
    unsafe #expect(mkfifo(pipe, 0o600) == 0)
    #expect(refusal(of: pipe)?.code == .notAFile)
  }

  @Test("a file for another machine is refused", arguments: [(18, 0xB7), (4, 1), (16, 2)])
  func otherMachine(offset: Int, byte: Int) async throws {
    let path = try await FixturePlugin.compile("loading", into: folder)
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[offset] = UInt8(byte)
    try bytes.write(to: URL(filePath: path))
    #expect([.wrongArchitecture, .wrongType].contains(refusal(of: path)?.code))
  }

  @Test("no truncation of a plugin is mapped, and none traps")
  func truncations() async throws {
    let path = try await FixturePlugin.compile("loading", into: folder)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    for length in stride(from: 0, to: bytes.count, by: 61) {
      // Section headers are at the end, and the loader does not need them. Every PT_LOAD must be complete.
      let image = try? ELFImage(Array(bytes[..<length]))
      if let image { #expect(image.segments.filter { $0.type == 1 }.allSatisfy { $0.range.upperBound <= length }) }
    }
    try Data(bytes[..<(bytes.count / 4)]).write(to: URL(filePath: path))
    #expect(refusal(of: path)?.code == .truncated)
  }

  @Test("no changed byte of a header makes the reader trap")
  func mutations() async throws {
    let path = try await FixturePlugin.compile("loading", into: folder)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    var read = 0
    for offset in 0..<min(900, bytes.count) {
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
        var changed = bytes
        changed[offset] = value
        guard let image = try? ELFImage(changed) else { continue }
        if (try? PluginNote(of: image, path: path)) != nil { read += 1 }
        if (try? image.dynamicLinks().libraries.isEmpty) == false { read += 1 }
      }
    }
    #expect(read > 0)
  }

  @Test("a file others may write to is refused, and so is one in such a folder")
  func writable() async throws {
    let path = try await FixturePlugin.compile("loading", into: folder)
    unsafe chmod(path, 0o777)
    #expect(refusal(of: path)?.code == .unsafeMode)
    unsafe chmod(path, 0o755)
    unsafe chmod(folder.url.path, 0o777)
    #expect(refusal(of: path)?.code == .unsafeParent)
    unsafe chmod(folder.url.path, 0o755)
    #expect(refusal(of: path) == nil)
  }

  @Test("any folder on the way counts, also behind a symbolic link, but not one with the sticky bit")
  func parents() async throws {
    let inner = folder.file("open").appending(path: "inner")
    try FileManager.default.createDirectory(
      at: inner, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let built = try await FixturePlugin.compile("loading", into: folder)
    let path = inner.appending(path: "plugin.so").path
    try FileManager.default.copyItem(atPath: built, toPath: path)
    let link = folder.file("link.so").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let outer = folder.file("open").path
    for mode: mode_t in [0o777, 0o775] {
      unsafe chmod(outer, mode)
      #expect(refusal(of: path)?.code == .unsafeParent)
      #expect(refusal(of: path)?.message.contains(outer) == true)
      #expect(refusal(of: link)?.code == .unsafeParent)
    }
    unsafe chmod(outer, 0o1777)
    #expect(refusal(of: path) == nil)
    unsafe chmod(outer, 0o755)
    #expect(refusal(of: link) == nil)
    unsafe chmod(path, 0o775)
    #expect(refusal(of: link)?.code == .unsafeMode)
  }

  @Test("a file of another user, or in a folder of one, is refused")
  func owners() async throws {
    // Only root can change the owner of files.
    guard geteuid() == 0 else { return }
    let path = try await FixturePlugin.compile("loading", into: folder)
    unsafe chown(path, 65_534, 65_534)
    #expect(refusal(of: path)?.code == .unsafeOwner)
    #expect(refusal(of: path)?.message.contains("65534") == true)
    unsafe chown(path, 0, 0)
    unsafe chown(folder.url.path, 65_534, 65_534)
    #expect(refusal(of: path)?.code == .unsafeParent)
    unsafe chown(folder.url.path, 0, 0)
    #expect(refusal(of: path) == nil)
  }

  @Test("a file larger than any plugin is refused without being read")
  func tooLarge() throws {
    let path = folder.file("large.so").path
    try Data().write(to: URL(filePath: path))
    unsafe #expect(truncate(path, 513 << 20) == 0)
    #expect(refusal(of: path)?.code == .tooLarge)
  }

  @Test("a device and a socket are not valid plugins", arguments: ["/dev/null", "/dev/zero"])
  func devices(path: String) {
    #expect(refusal(of: path)?.code == .notAFile)
  }

  @Test("an empty file is not a valid plugin")
  func empty() throws {
    let path = folder.file("empty.so").path
    try Data().write(to: URL(filePath: path))
    #expect(refusal(of: path)?.code == .notELF)
  }

  @Test("a file that is not what the manifest pins is refused with its digest")
  func pins() async throws {
    let path = try await FixturePlugin.compile("loading", into: folder)
    let digest = try PluginNote.inspect(path: path).digest
    #expect(refusal(of: path, pin: digest) == nil)
    let wrong = refusal(of: path, pin: String(repeating: "0", count: 64))
    #expect(wrong?.code == .pinMismatch)
    #expect(wrong?.message.contains(digest) == true)
  }

  @Test("overwriting, truncating or deleting the file of a loaded plugin has no effect")
  func fileChangesUnderneath() async throws {
    let path = try await FixturePlugin.compile("loading", defining: ["CHANGED_LATER"], into: folder)
    let library = try PluginLibrary.load(path: path)
    try Data("garbage in place".utf8).write(to: URL(filePath: path), options: [])
    unsafe truncate(path, 0)
    unsafe unlink(path)
    let instance = try PluginInstance(
      library.interceptor(nil), library: library, options: PluginInstance.Options(name: "still-there"))
    #expect(library.interceptors.first?.id == "org.carabiner.test.loading")
    withExtendedLifetime(instance) {}
  }

  @Test("the identity is read without running the plugin's code")
  func inspectDoesNotRun() async throws {
    let path = try await FixturePlugin.compile("loading", defining: ["ENTRY_CRASHES"], into: folder)
    #expect(try PluginNote.inspect(path: path).note.version == "1.0.0")
  }
}
