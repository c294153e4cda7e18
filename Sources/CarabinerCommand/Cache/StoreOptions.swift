internal import ArgumentParser
internal import Carabiner
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerSQLite
internal import Foundation

/// Options for the store and the output format.
struct StoreOptions: ParsableArguments {
  @Option(name: .long, help: "The store's file.")
  var store: String?

  @Option(name: [.customShort("m"), .customLong("manifest")], help: "A manifest that names the store's file.")
  var manifest: String?

  @Option(name: .long, help: "text or json.")
  var format: CacheCommand.Format = .text

  func validate() throws {
    guard (store == nil) != (manifest == nil) else { throw ValidationError("give either --store FILE or -m MANIFEST") }
  }

  /// Opens the store and passes it to `body`. Any error ends the command with a message.
  func withStore(forWriting: Bool = false, _ body: (SQLiteNormalizedCache) async throws -> Void) async throws {
    do {
      let path = try path()
      var isFolder: ObjCBool = false
      guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw StoreError(.database, "there is no store \(path); check the path, or run an operation that creates it")
      }
      guard !isFolder.boolValue else { throw StoreError(.database, "\(path) is a folder; name the store's file in it") }
      // Root may open the stores of other users.
      let mayBeForeign = geteuid() == 0
      // An empty file is not a store. Opening it for reading first prevents its conversion into one.
      var cache = try SQLiteNormalizedCache(path: path, isReadOnly: true, mayBeForeign: mayBeForeign)
      if forWriting { cache = try SQLiteNormalizedCache(path: path, mayBeForeign: mayBeForeign) }
      try await body(cache)
    } catch {
      if !(error is ExitStatus) { Terminal.complain("error: \(error)") }
      throw ExitStatus(error)
    }
  }

  private func path() throws -> String {
    if let store { return store }
    guard let manifest, let file = try Manifest.load(path: manifest).store.file else {
      throw usageError("the manifest keeps its store in memory; only a store in a file can be read")
    }
    return file
  }
}
