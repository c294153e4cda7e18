import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import Foundation
import Synchronization
import TestTools
import Testing

/// Another process writes to the file while it is being loaded.
@Suite("A plugin's file that changes while it is loaded")
struct LoadingRaceTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// Loads a file repeatedly while a thread repeats `change`. Returns the number of each outcome.
  private func outcomes(
    of path: String, count: Int, mode: StagedCopy.Mode, while change: @escaping @Sendable () -> Void
  ) -> [String: Int] {
    var outcomes: [String: Int] = [:]
    let over = Flag()
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while !over.isSet { change() }
      ended.signal()
    }
    for _ in 0..<count {
      do {
        outcomes[try PluginLibrary.load(path: path, mode: mode).digest, default: 0] += 1
      } catch {
        outcomes[error.code.rawValue, default: 0] += 1
      }
    }
    over.set()
    ended.wait()
    return outcomes
  }

  @Test("cut short and filled again: loaded whole or refused, never half", arguments: [StagedCopy.Mode.directory, .memfd])
  func truncated(mode: StagedCopy.Mode) async throws {
    let path = try await FixturePlugin.compile("loading", into: folder)
    // The file needs its own digest. Otherwise the loader finds the library of another test.
    let whole = try Data(contentsOf: URL(filePath: path)) + Data("cut \(mode.rawValue)".utf8)
    try whole.write(to: URL(filePath: path))
    let digest = try PluginNote.inspect(path: path).digest
    let quarter = whole.count / 4
    let outcomes = outcomes(of: path, count: 400, mode: mode) {
      guard let handle = FileHandle(forWritingAtPath: path) else { return }
      try? handle.truncate(atOffset: UInt64(quarter))
      _ = try? handle.seekToEnd()
      try? handle.write(contentsOf: whole[quarter...])
      try? handle.close()
    }
    #expect(Set(outcomes.keys).isSubset(of: [digest, "truncated", "changed"]), "\(outcomes)")
    #expect(outcomes.values.reduce(0, +) == 400)
    let library = try PluginLibrary.load(path: path, mode: mode)
    #expect(library.digest == digest)
    let instance = try PluginInstance(
      library.interceptor(nil), library: library, options: PluginInstance.Options(name: "alive"))
    withExtendedLifetime(instance) {}
  }

  @Test("replaced in one step: each time the old one or the new one")
  func replaced() async throws {
    let first = try await FixturePlugin.compile("loading", into: folder, name: "old.so")
    let second = try await FixturePlugin.compile("loading", defining: ["NO_ENTRY"], into: folder, name: "new.so")
    let digest = try PluginNote.inspect(path: first).digest
    let path = folder.file("plugin.so").path
    try FileManager.default.copyItem(atPath: first, toPath: path)
    let folder = folder
    let outcomes = outcomes(of: path, count: 400, mode: .directory) {
      let next = folder.file("next.so").path
      unsafe unlink(next)
      guard unsafe link(Bool.random() ? second : first, next) == 0 else { return }
      unsafe rename(next, path)
    }
    // Creating a hard link changes the ctime of the file, so a file that seems to change is read again.
    #expect(Set(outcomes.keys).isSubset(of: [digest, "noEntry", "changed", "notFound"]), "\(outcomes)")
    #expect(outcomes.values.reduce(0, +) == 400)
  }
}

/// A flag that one thread sets and another reads.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}
