internal import Carabiner
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerRESP
internal import CarabinerRedis

/// The state that gateways share under a manifest, and the settings that it was made for.
struct SharedUse: Sendable {
  private struct Connection: Hashable {
    let servers: Manifest.RedisServers
    let prefix: String
    let budget: Duration
    /// The digest of the login and the certificates.
    let identity: [UInt8]
    let needsMemory: Bool
  }

  private struct Settings: Hashable {
    let sync: Duration
    let rate: RequestRate?
    let idempotency: Manifest.Idempotency?
  }

  private let connection: Connection
  private let settings: Settings
  let state: SharedState

  /// Returns the state for a manifest; nil if the manifest names none. Connections and counts are kept if their settings are the same.
  ///
  /// - Throws: ``ManifestError`` if a reference cannot be resolved, or the settings are not valid.
  static func of(_ manifest: Manifest, _ rate: RequestRate?, replacing predecessor: SharedUse?) throws -> SharedUse? {
    guard let shared = manifest.serve.shared else { return nil }
    let secrets = SecretReferences(directory: manifest.directory)
    guard let prefix = manifest.sharedPrefix else {
      throw ManifestError(path: manifest.path, problems: manifest.placed(manifest.storeProblems()))
    }
    let connection = Connection(
      servers: shared.servers, prefix: prefix, budget: shared.budget,
      identity: try manifest.identity(of: shared.servers, at: Manifest.sharedPointer, secrets),
      needsMemory: manifest.serve.idempotency != nil)
    let settings = Settings(sync: shared.sync, rate: rate, idempotency: manifest.serve.idempotency)
    if let predecessor, predecessor.connection == connection {
      if predecessor.settings == settings { return predecessor }
      let rates = predecessor.settings.rate == settings.rate ? predecessor.state.rates : nil
      return SharedUse(connection, settings, predecessor.state.store, rates)
    }
    let redis = try manifest.connection(shared.servers, at: Manifest.sharedPointer, secrets)
    do throws(RedisError) {
      let store = try SharedStore(redis, prefix: prefix, budget: shared.budget, needsMemory: connection.needsMemory)
      return SharedUse(connection, settings, store)
    } catch {
      throw ManifestError(
        path: manifest.path,
        problems: manifest.placed([ManifestProblem(.invalidValue, at: Manifest.sharedPointer, error.message)]))
    }
  }

  /// - Parameter rates: The counts that are continued; nil for new ones.
  private init(_ connection: Connection, _ settings: Settings, _ store: SharedStore, _ rates: SharedRates? = nil) {
    (self.connection, self.settings) = (connection, settings)
    state = SharedState(
      store, rates: rates ?? settings.rate.map { SharedRates($0) }, every: settings.sync,
      idempotency: settings.idempotency.map { rule in
        IdempotencyRule(
          field: rule.header, maximumBytes: rule.bodyBytes, runsWithoutStore: rule.unavailable == .run,
          keys: MutationKeys(store, life: rule.keep), clientField: settings.rate?.keyField)
      })
  }
}
