import CarabinerRESP
import Logging
import Synchronization
import TestTools
import Testing

@testable import CarabinerRedis

/// A server that is not the primary any more, seen by several connections.
@Suite("Redis: a demoted server")
struct RedisDemotionTests {
  @Test("the connection for invalidations follows to the new primary, although the old one answers PING")
  func subscription() async throws {
    let (first, second) = (try await RedisServer(), try await RedisServer())
    let url = try RedisURL(second.url)
    let node = try TestNode(first.url) {
      $0.connection.urls.append(url)
      ($0.nearRecords, $0.nearMaximumAge) = (1000, .seconds(3600))
    }
    await node.isReady()
    #expect(await eventually { try first.ask("PUBSUB", "NUMSUB", "{crb:shop}:c").hasSuffix("1") })
    // A replica without a connection to its primary gets no messages.
    #expect(try first.ask("REPLICAOF", "127.0.0.1", "1") == "OK")
    try await node.publish(#"{"hero":{"__typename":"Hero","id":"1","name":"old"}}"#, for: Self.document)
    #expect(await eventually { try second.ask("PUBSUB", "NUMSUB", "{crb:shop}:c").hasSuffix("1") }, "\(node.log.lines)")
    #expect(try first.ask("PUBSUB", "NUMSUB", "{crb:shop}:c").hasSuffix("0"))
    #expect(node.log.has(.info, "the connection for messages is made again too"), "\(node.log.lines)")
    await node.isReady()
    // A node drops the fields that another node changes.
    let other = try await TestNode.ready(second)
    try await node.publish(#"{"hero":{"__typename":"Hero","id":"1","name":"old"}}"#, for: Self.document)
    #expect(try await node.data(Self.document) == json(#"{"hero":{"__typename":"Hero","id":"1","name":"old"}}"#))
    try await other.publish(#"{"hero":{"__typename":"Hero","id":"1","name":"new"}}"#, for: Self.document)
    let new = try json(#"{"hero":{"__typename":"Hero","id":"1","name":"new"}}"#)
    #expect(await eventually { try await node.data(Self.document) == new })
  }

  private static let document = "{ hero { __typename id name } }"

  @Test("the connection for invalidations is made again if the address may lead to another server now")
  func oneAddress() async throws {
    let server = try await RedisServer()
    let addresses = RedisAddresses([try RedisURL(server.url)])
    let settings = RedisSettings(urls: addresses.list, node: "test")
    let events = Events()
    let subscriber = try RedisClient(
      settings, addresses, channels: ["news"], home: HashSlot(key: ""), isSpread: false, logger: LogRecorder().logger
    ) { events.add($0) }
    #expect(await eventually { events.opened == 1 })
    addresses.refuse(try RedisURL(server.url), "READONLY")
    #expect(await eventually { events.opened == 2 })
    // A server that is not in use changes nothing.
    addresses.refuse(try RedisURL("redis://127.0.0.1:1"), "READONLY")
    #expect(await eventually { try server.ask("PUBLISH", "news", "a") == "1" })
    #expect(await eventually { events.messages == 1 })
    #expect(events.opened == 2)
    await subscriber.shutDown()
  }

  @Test("servers that refuse commands are tried last, the one that refused first before the others")
  func order() throws {
    let urls = try (1...3).map { try RedisURL("redis://127.0.0.1:\($0)") }
    let addresses = RedisAddresses(urls)
    addresses.refuse(urls[0], "READONLY")
    #expect(addresses.list == [urls[1], urls[2], urls[0]])
    addresses.refuse(urls[1], "READONLY")
    #expect(addresses.list == [urls[2], urls[0], urls[1]])
    for _ in 0..<2 { addresses.refuse(urls[2], "LOADING") }
    #expect(addresses.list == urls)
  }
}

/// Counts the events of a subscription.
private final class Events: Sendable {
  private let counts = Mutex((opened: 0, messages: 0))

  func add(_ event: RedisEvent) {
    counts.withLock { counts in
      switch event {
      case .opened: counts.opened += 1
      case .push: counts.messages += 1
      case .lost: break
      }
    }
  }

  var opened: Int { counts.withLock(\.opened) }
  var messages: Int { counts.withLock(\.messages) }
}
