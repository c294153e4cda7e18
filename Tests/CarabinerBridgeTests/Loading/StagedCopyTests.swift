import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import Foundation
import Glibc
import TestTools
import Testing

/// The mapped copy of a plugin, and the processes that could change it.
@Suite("The private copy of a plugin")
struct StagedCopyTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// The descriptors of this process for a memory file of this name.
  private func descriptors(of name: String) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter { descriptor in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
      return target?.hasPrefix("/memfd:carabiner:\(name)") == true
    }
  }

  /// A plugin whose bytes differ from those of other tests.
  private func plugin(_ name: String, _ version: Int = 0, defining definitions: [String] = []) async throws -> String {
    let path = try await FixturePlugin.compile("loading", defining: definitions, into: folder, name: "built.so")
    let target = folder.file(name)
    try (Data(contentsOf: URL(filePath: path)) + Data("\(name) \(version)".utf8)).write(to: target)
    unsafe chmod(target.path, 0o755)
    return target.path
  }

  @Test("unless asked for a folder it is in memory, under the plugin's name, and nothing can be written to it")
  func sealed() async throws {
    _ = try PluginLibrary.load(path: try await plugin("sealed-copy.so"))
    let descriptor = try #require(try descriptors(of: "sealed-copy.so").first)
    var byte: UInt8 = 0
    let written = unsafe pwrite(descriptor, &byte, 1, 0)
    let reason = errno
    #expect(written == -1 && reason == EPERM)
    #expect(ftruncate(descriptor, 0) == -1)
  }

  @Test("each version takes one descriptor, however often it is loaded, and a refused file takes none")
  func growth() async throws {
    let first = try await plugin("grows-copy.so")
    let bytes = try Data(contentsOf: URL(filePath: first))
    for round in 0..<150 {
      try (bytes + Data("\(round % 3)".utf8)).write(to: URL(filePath: first))
      _ = try PluginLibrary.load(path: first)
      try Data(bytes[..<(bytes.count / 4)]).write(to: URL(filePath: first))
      _ = try? PluginLibrary.load(path: first)
    }
    #expect(try descriptors(of: "grows-copy.so").count == 3)
  }

  @Test("a copy in a folder that was changed since it was written is rewritten, and not loaded")
  func changedCopy() async throws {
    let path = try await plugin("changed-copy.so", defining: ["UNRESOLVED"])
    let digest = try PluginNote.inspect(path: path).digest
    func refusal() -> HostError.Code? {
      do throws(HostError) {
        _ = try PluginLibrary.load(path: path, mode: .directory)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(refusal() == .openFailed)
    let parent = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/tmp"
    let copy = try #require(
      try FileManager.default.contentsOfDirectory(atPath: parent).filter { $0.hasPrefix("carabiner-") }
        .map { "\(parent)/\($0)/\(digest).so" }.first { FileManager.default.fileExists(atPath: $0) })
    let good = try await plugin("good-copy.so")
    unsafe #expect(rename(good, copy) == 0)
    #expect(refusal() == .openFailed)
    #expect(try Data(contentsOf: URL(filePath: copy)) == Data(contentsOf: URL(filePath: path)))
  }
}
