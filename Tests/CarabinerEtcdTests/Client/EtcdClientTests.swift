import CarabinerEtcd
import CarabinerWire
import Foundation
import ScriptedServer
import TestTools
import Testing

/// A client of a real etcd.
@Suite("Requests to etcd")
struct EtcdClientTests {
  @Test("keys are set by transactions whose conditions hold, and read at one revision", .rule("fleet.2"))
  func transactions() async throws {
    let server = try await EtcdServer.single()
    let client = try EtcdTest.client(server.url)
    let put = EtcdRequest.Change.put("p/stable", Array("one".utf8))
    let first = try await client.transaction(if: [.changed("p/stable", at: 0)], then: [put])
    #expect(first.hasSucceeded)
    let second = try await client.transaction(if: [.changed("p/stable", at: 0)], then: [.put("p/stable", Array("two".utf8))])
    #expect(!second.hasSucceeded)
    #expect(second.found.map(\.value) == [Array("one".utf8)])
    let range = try await client.range(.init(.all(prefix: "p/")))
    #expect(range.values.map(\.key) == ["p/stable"])
    #expect(range.values.first?.changed == first.revision)
    #expect(try await client.transaction(if: [.version("p/stable", equals: 1)], then: [put]).hasSucceeded)
    #expect(try await client.transaction(if: [.version("p/stable", equals: 1)], then: [put]).hasSucceeded == false)
    let ranges = try await client.ranges([.init(.one("p/stable")), .init(.one("p/none"))])
    #expect(ranges.ranges.map(\.values.count) == [1, 0])
    let last = try await client.transaction(
      if: [.value("p/stable", equals: Array("one".utf8))], then: [.delete(.one("p/stable")), .delete(.all(prefix: "p/taken/"))])
    #expect(last.hasSucceeded)
    #expect(try await client.range(.init(.one("p/stable"))).values.isEmpty)
  }

  @Test("any bytes are values, and 1 MiB of them are not too many", .rule("fleet.2"))
  func values() async throws {
    let server = try await EtcdServer.single()
    let client = try EtcdTest.client(server.url)
    let value = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    _ = try await client.transaction(if: [], then: [.put("p/stable", value), .put("p/empty", [])])
    let view = try await client.view(of: [.all(prefix: "p/")])
    #expect(view["p/stable"]?.value == value)
    #expect(view["p/empty"]?.value == [])
    let error = await #expect(throws: EtcdError.self) {
      try await client.transaction(if: [], then: [.put("p/stable", value + value)])
    }
    #expect(error?.code == .refused)
  }

  @Test("a view has one revision, and a later one has what was changed, made and deleted since", .rule("fleet.2"))
  func views() async throws {
    let server = try await EtcdServer.single()
    let client = try EtcdTest.client(server.url)
    let keys: [EtcdKeys] = [.one("p/stable"), .all(prefix: "p/stage/")]
    for (key, text) in [("p/stable", "one"), ("p/stage/a", "0"), ("p/nodes/a", "x")] { try await client.put(key, text) }
    let first = try await client.view(of: keys)
    #expect(first.texts == ["p/stable": "one", "p/stage/a": "0"])
    _ = try await client.transaction(
      if: [], then: [.delete(.all(prefix: "p/stage/a")), .put("p/stage/b", Array("1".utf8)), .put("p/nodes/a", [])])
    let second = try await client.view(of: keys, since: first)
    #expect(second.texts == ["p/stable": "one", "p/stage/b": "1"])
    #expect(second.revision == first.revision + 1)
    #expect(try await client.view(of: keys, since: second) == second)
    // A view of a later revision, as after etcd was restored from a copy.
    let future = EtcdView(revision: 1000, values: ["p/stable": EtcdValue(key: "p/stable", value: [1], changed: 999)])
    #expect(try await client.view(of: keys, since: future) == second)
  }

  @Test("a lease is renewed as long as it lives, and its keys end with it", .rule("fleet.2"))
  func leases() async throws {
    let server = try await EtcdServer.single()
    let client = try EtcdTest.client(server.url)
    let lease = try await client.lease(seconds: 600)
    #expect(lease.id != 0 && lease.seconds == 600)
    #expect(try await client.keepAlive(lease)?.id == lease.id)
    _ = try await client.transaction(if: [], then: [.put("p/nodes/a", [1], lease: lease.id)])
    #expect(try await client.range(.init(.one("p/nodes/a"))).values.first?.lease == lease.id)
    _ = try await server.ask("/v3/lease/revoke", ["ID": .string("\(lease.id)")])
    #expect(try await client.keepAlive(lease) == nil)
    #expect(try await client.range(.init(.one("p/nodes/a"))).values.isEmpty)
  }

  @Test("the next member is asked if one is gone, and remembered", .rule("fleet.4"))
  func members() async throws {
    let servers = try await EtcdServer.cluster(3)
    let client = try EtcdTest.client(servers[0].url, servers[1].url, servers[2].url)
    try await client.put("p/a", "1")
    servers[0].end()
    #expect(await eventually { try await client.view(of: [.one("p/a")]).texts == ["p/a": "1"] })
    try await servers[0].restart()
    servers[1].end()
    #expect(await eventually { try await client.view(of: [.one("p/a")]).texts == ["p/a": "1"] })
  }

  @Test("a member that answers nothing is left after the time for an answer", .rule("fleet.4"))
  func silent() async throws {
    let server = try await EtcdServer.single()
    let stopped = try await EtcdServer.single()
    try await stopped.stop()
    let client = try EtcdTest.client(stopped.url, server.url) { $0.limits.timeout = 2 }
    #expect(await eventually { try await client.range(.init(.one("x"))).revision == 1 })
  }

  @Test(
    "a read is sent to the next member after its answer is lost; a transaction is not, since it may have been made",
    .rule("fleet.2"))
  func uncertain() async throws {
    let server = try await EtcdServer.single()
    let broken = try ScriptedServer { peer in _ = try peer.request() }
    let client = try EtcdTest.client(broken.origin, server.url)
    let error = await #expect(throws: EtcdError.self) { try await client.put("p/a", "1") }
    #expect(error?.code == .uncertain)
    #expect(error?.message.contains("read the keys before you repeat it") == true)
    #expect(broken.requests.count == 1)
    #expect(try await client.range(.init(.one("p/a"))).values.isEmpty)
    #expect(broken.requests.count > 1)
    // Not sent at all: there is nothing at this address.
    let refused = try ScriptedServer(isOpen: false) { _ in }
    #expect(try await EtcdTest.client(refused.origin, server.url).put("p/a", "1").hasSucceeded)
  }

  @Test("the error names each member that cannot be reached", .rule("fleet.2"))
  func unreachable() async throws {
    let (one, two) = (try ScriptedServer(isOpen: false) { _ in }, try ScriptedServer(isOpen: false) { _ in })
    let client = try EtcdTest.client(one.origin, two.origin)
    let error = await #expect(throws: EtcdError.self) { try await client.range(.init(.one("x"))) }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("\(one.port)") == true && error?.message.contains("\(two.port)") == true)
  }
}
