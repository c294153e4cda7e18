internal import ArgumentParser
internal import Carabiner
internal import CarabinerFiles
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerRESP
internal import CarabinerRedis
internal import CarabinerSQLite
internal import Foundation

/// Options for the store and the output format.
struct StoreOptions: ParsableArguments {
  @Option(name: .long, help: "The store's file, or redis://HOST:PORT.")
  var store: String?

  @Option(name: .long, help: "The name of the store in Redis, as in the manifest's prefix.")
  var prefix: String?

  @Flag(name: .long, help: "The server is a node of a Redis cluster.") var cluster = false

  @Flag(name: .long, help: "The records are spread over the cluster, as with the manifest's spread.") var spread = false

  @Option(name: .long, help: "The user of Redis.")
  var user: String?

  @Option(name: .long, help: "The file with the password of Redis.")
  var passwordFile: String?

  @Option(name: [.customShort("m"), .customLong("manifest")], help: "A manifest with the store's file or its servers of Redis.")
  var manifest: String?

  @Option(name: .long, help: "text or json.")
  var format: CacheCommand.Format = .text

  private static let maximumPasswordBytes = 64 << 10
  /// The time limit for the connection to a store in Redis.
  private static let connectionTime = Duration.seconds(10)
  /// The time limit for one search for keys, and for one step of reading or removing records.
  private static let stepTime = Duration.seconds(600)

  private var isInRedis: Bool { store.map { $0.hasPrefix("redis://") || $0.hasPrefix("rediss://") } ?? false }

  func validate() throws {
    guard (store == nil) != (manifest == nil) else {
      throw ValidationError("give either --store FILE, --store redis://HOST:PORT, or -m MANIFEST")
    }
    guard isInRedis == (prefix != nil) else {
      throw ValidationError(
        isInRedis ? "give the name of the store in Redis as well: --prefix NAME" : "--prefix is for --store redis://HOST:PORT")
    }
    guard isInRedis || user == nil && passwordFile == nil && !cluster else {
      throw ValidationError("--user, --password-file and --cluster are for --store redis://HOST:PORT")
    }
    guard cluster || !spread else { throw ValidationError("--spread needs --cluster") }
  }

  /// Opens the store and passes it to `body`. Any error ends the command with a message.
  func withStore(forWriting: Bool = false, _ body: (any InspectableCache) async throws -> Void) async throws {
    do {
      try await body(try await cache(forWriting))
    } catch {
      if !(error is ExitStatus) { Terminal.complain("error: \(error)") }
      throw ExitStatus(error)
    }
  }

  private func cache(_ forWriting: Bool) async throws -> any InspectableCache {
    guard let manifest else {
      return try await isInRedis ? redis(redisSettings(), forWriting) : file(store ?? "", forWriting)
    }
    let loaded = try Manifest.load(path: manifest)
    if let servers = loaded.store.redis {
      return try await redis(loaded.redisSettings(servers, SecretReferences(directory: loaded.directory)), forWriting)
    }
    guard let path = loaded.store.file else {
      throw usageError("the manifest keeps its store in memory; only a store in a file or in Redis can be read")
    }
    return try file(path, forWriting)
  }

  // MARK: Files

  private func file(_ path: String, _ forWriting: Bool) throws -> SQLiteNormalizedCache {
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw StoreError(.database, "there is no store \(path); check the path, or run an operation that creates it")
    }
    guard !isFolder.boolValue else { throw StoreError(.database, "\(path) is a folder; name the store's file in it") }
    // Root may open the stores of other users.
    let mayBeForeign = geteuid() == 0
    // An empty file is not a store. Opening it for reading first prevents its conversion into one.
    let cache = try SQLiteNormalizedCache(path: path, isReadOnly: true, mayBeForeign: mayBeForeign)
    return forWriting ? try SQLiteNormalizedCache(path: path, mayBeForeign: mayBeForeign) : cache
  }

  // MARK: Redis

  private func redisSettings() throws -> RedisStoreSettings {
    do {
      var connection = RedisSettings(urls: [try RedisURL(store ?? "")], node: ProcessInfo.processInfo.hostName)
      connection.user = user
      connection.password = try passwordFile.map(password)
      connection.isCluster = cluster
      var settings = RedisStoreSettings(connection, prefix: prefix ?? "")
      settings.isSpread = spread
      return settings
    } catch let error as RedisError {
      throw usageError(error.message)
    }
  }

  private func password(_ path: String) throws -> String {
    do throws(BoundedFile.Fault) {
      return try BoundedFile.text(at: path, maximumBytes: Self.maximumPasswordBytes).trimmingCharacters(in: .newlines)
    } catch {
      switch error {
      case .unreadable(let reason): throw usageError("the password cannot be read from \(path): \(reason)")
      case .tooLarge: throw usageError("\(path) has more than \(Self.maximumPasswordBytes) bytes; write the password only")
      case .notText: throw usageError("\(path) is not text in UTF-8; write the password only")
      }
    }
  }

  private func redis(_ given: RedisStoreSettings, _ forWriting: Bool) async throws -> RedisNormalizedCache {
    var settings = given
    (settings.nearRecords, settings.isReadOnly) = (0, !forWriting)
    (settings.readBudget, settings.writeTime, settings.removalTime) = (Self.stepTime, Self.stepTime, Self.stepTime)
    do {
      let cache = try RedisNormalizedCache(settings)
      try await cache.waitUntilAvailable(for: Self.connectionTime)
      return cache
    } catch let error as RedisError {
      throw usageError(error.message)
    }
  }
}
