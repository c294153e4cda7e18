internal import Carabiner
internal import CarabinerBridge
internal import CarabinerDigest
internal import CarabinerFiles
package import CarabinerManifest
internal import CarabinerRESP
package import CarabinerRedis
internal import CarabinerSQLite
internal import CarabinerWire
internal import FoundationEssentials

extension Manifest {
  /// Opens the store, and creates its file if there is none. A store in Redis connects in the background.
  ///
  /// - Throws: ``StoreError``, or ``ManifestError`` if the settings of Redis are not valid.
  func openStore(_ secrets: SecretReferences) throws -> ApolloStore {
    let cache: any NormalizedCache =
      if let redis = store.redis {
        try openRedis(redis, secrets)
      } else if let file = store.file {
        try SQLiteNormalizedCache(path: file, maximumFields: settings.storeFields, maximumBytes: settings.storeFileBytes)
      } else {
        InMemoryNormalizedCache(
          maximumRecords: settings.storeRecords, maximumBytes: settings.storeBytes, maximumFields: settings.storeFields)
      }
    return ApolloStore(cache: cache, policy: store.policy)
  }

  private func openRedis(_ redis: RedisStore, _ secrets: SecretReferences) throws -> RedisNormalizedCache {
    let settings = try redisSettings(redis, secrets)
    do throws(RedisError) {
      return try RedisNormalizedCache(settings)
    } catch {
      throw ManifestError(
        path: path, problems: placed([ManifestProblem(.invalidValue, at: Self.redisStorePointer, error.message)]))
    }
  }

  /// The settings of a store in Redis, with its login.
  ///
  /// - Throws: ``ManifestError`` if a reference cannot be resolved, or there is no prefix.
  package func redisSettings(_ redis: RedisStore, _ secrets: SecretReferences) throws -> RedisStoreSettings {
    guard let prefix = redisPrefix else { throw ManifestError(path: path, problems: placed(storeProblems())) }
    var connection = try connection(redis.servers, at: Self.redisStorePointer, secrets)
    connection.connections = redis.connections
    var settings = RedisStoreSettings(connection, prefix: prefix)
    settings.policy = store.policy
    settings.isSpread = redis.isSpread
    settings.readBudget = redis.readBudget
    settings.writeQueueBytes = redis.writeQueueBytes
    settings.timeToLive = redis.timeToLive
    (settings.nearRecords, settings.nearMaximumAge) = (redis.nearRecords, redis.nearMaximumAge)
    return settings
  }

  /// The settings of connections to servers, with the login.
  ///
  /// - Parameter pointer: The place of the servers in the manifest.
  /// - Throws: ``ManifestError`` if a reference cannot be resolved.
  func connection(
    _ servers: RedisServers, at pointer: JSONPointer, _ secrets: SecretReferences
  ) throws -> RedisSettings {
    let login = try resolvedLogin(of: servers, at: pointer, secrets)
    var connection = RedisSettings(urls: servers.urls, node: ProcessInfo.processInfo.hostName)
    (connection.user, connection.password) = (login.user, login.password)
    connection.authorityFile = servers.authorityFile
    (connection.certificateFile, connection.keyFile) = (servers.certificateFile, servers.keyFile)
    connection.isCluster = servers.isCluster
    return connection
  }

  /// The maximum size of a file with certificates or a key, in bytes.
  private static let maximumCertificateBytes = 16 << 20

  /// A digest of what the store's settings refer to outside of the manifest: the login and the contents of the certificate files;
  /// nil if the store is not in Redis.
  ///
  /// - Throws: ``ManifestError`` if a reference cannot be resolved.
  func storeIdentity(_ secrets: SecretReferences) throws -> [UInt8]? {
    guard let servers = store.redis?.servers else { return nil }
    return try identity(of: servers, at: Self.redisStorePointer, secrets)
  }

  /// A digest of the login of servers, and of the contents of their certificate files.
  ///
  /// - Throws: ``ManifestError`` if a reference cannot be resolved.
  func identity(of servers: RedisServers, at pointer: JSONPointer, _ secrets: SecretReferences) throws -> [UInt8] {
    let login = try resolvedLogin(of: servers, at: pointer, secrets)
    var parts = [login.user, login.password].map { $0.map { Array($0.utf8) } }
    for file in [servers.authorityFile, servers.certificateFile, servers.keyFile] {
      parts.append(file.flatMap { try? BoundedFile.bytes(at: $0, maximumBytes: Self.maximumCertificateBytes) })
    }
    // Each part has a digest of its own. Otherwise two different lists of parts could have the same bytes.
    return Digest.sha256(parts.flatMap { $0.map(Digest.sha256) ?? [0] })
  }

  /// Whether a store that was opened for another manifest has the settings of this one.
  func canKeepStore(of other: Manifest) -> Bool {
    store == other.store && settings.storeRecords == other.settings.storeRecords
      && settings.storeBytes == other.settings.storeBytes && settings.storeFields == other.settings.storeFields
      && settings.storeFileBytes == other.settings.storeFileBytes
  }

  /// The reasons why the store cannot be used. Nothing is created or changed, and no connection is made.
  package func storeProblems() -> [ManifestProblem] {
    let withoutPrefix =
      (store.redis != nil && redisPrefix == nil ? [Self.redisStorePointer] : [])
      + (serve.shared != nil && sharedPrefix == nil ? [Self.sharedPointer] : [])
    guard withoutPrefix.isEmpty else {
      let message =
        "the prefix is missing, and the name of the manifest's file cannot be one; write prefix: with letters, digits and hyphens"
      return withoutPrefix.map { ManifestProblem(.missing, at: $0, message) }
    }
    guard let file = store.file, let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int, size > 0
    else { return [] }
    do {
      _ = try SQLiteNormalizedCache(path: file, isReadOnly: true)
      return []
    } catch {
      let place = JSONPointer(components: ["built-ins", "store", "file"])
      return [ManifestProblem(.unreadable, at: place, (error as? StoreError)?.message ?? "\(error)")]
    }
  }
}
