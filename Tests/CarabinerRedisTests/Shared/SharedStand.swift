import CarabinerRESP
import CarabinerRedis
import TestTools
import Testing

/// Connections of gateways to the shared state in a real redis-server.
struct SharedStand {
  let redis: RedisServer
  let log = LogRecorder()

  init(_ arguments: [String] = []) async throws { redis = try await RedisServer(arguments) }

  /// A store that is connected. Its answers have time, because the machine of a test may be busy.
  func store(
    budget: Duration = .seconds(30), needsMemory: Bool = false, user: String? = nil, password: String? = nil
  ) async throws -> SharedStore {
    var settings = RedisSettings(urls: [try RedisURL(redis.url)], node: "test")
    (settings.limits.openingTime, settings.limits.pingTime) = (.seconds(30), .seconds(30))
    (settings.user, settings.password) = (user, password)
    let store = try SharedStore(settings, prefix: "shop", budget: budget, needsMemory: needsMemory, logger: log.logger)
    #expect(await eventually { store.isAvailable }, "\(log.lines)")
    return store
  }

  /// The keys in Redis that begin with a text, and the bytes of the rest.
  func count(of beginning: String) throws -> Int {
    Int(try redis.ask("EVAL", "return #redis.call('KEYS', ARGV[1] .. '*')", "0", beginning)) ?? -1
  }
}
