import Carabiner
import CarabinerEtcd
import CarabinerWire
import Foundation
import Synchronization
import TestTools
import Testing

/// Keys that are followed, in clusters that fail.
@Suite("Keys that are followed")
struct EtcdFollowerTests {
  private static let keys: [EtcdKeys] = [
    .one("p/stable"), .one("p/stable.release"), .one("p/candidate"), .all(prefix: "p/stage/"), .all(prefix: "p/halt/"),
  ]

  private final class Recording: Sendable {
    private let list = Mutex<[EtcdReport]>([])

    var reports: [EtcdReport] { list.withLock(\.self) }

    /// Adds a report, and returns how many there are.
    @discardableResult func add(_ report: EtcdReport) -> Int {
      list.withLock { list in
        list.append(report)
        return list.count
      }
    }
  }

  /// A follower that runs, and its reports.
  private final class Following: Sendable {
    let follower: EtcdFollower
    private let recorded = Recording()
    private let task: Task<Void, any Error>

    init(_ client: EtcdClient) {
      let follower = EtcdFollower(client, EtcdFollowerTests.keys)
      self.follower = follower
      task = Task { [recorded] in try await follower.run { recorded.add($0) } }
    }

    deinit { task.cancel() }

    private var reports: [EtcdReport] { recorded.reports }

    /// The texts of the last view; nil before the first one.
    var texts: [String: String]? { views.last?.texts }

    var views: [EtcdView] { reports.compactMap { if case .view(let view) = $0 { view } else { nil } } }

    var failures: [EtcdError] { reports.compactMap { if case .failure(let error) = $0 { error } else { nil } } }

    /// Waits until the last view has these texts.
    func has(_ texts: [String: String]) async -> Bool { await eventually { self.texts == texts } }

    /// Waits until the keys are watched.
    func isUp() async -> Bool { await eventually { self.follower.metrics.isUp } }
  }

  /// A client that notices a silent member after a second. A busy machine may make it look again, which loses nothing.
  private func client(_ servers: [EtcdServer]) throws -> EtcdClient {
    var settings = try EtcdTest.settings(servers.map(\.url))
    settings.limits.timeout = 3
    settings.limits.checkInterval = .milliseconds(500)
    settings.limits.maximumLag = .milliseconds(500)
    settings.limits.maximumDelay = .milliseconds(500)
    return try EtcdClient(settings)
  }

  @Test("keys are read and then watched, and the changes of one transaction are seen at one revision", .rule("fleet.4"))
  func changes() async throws {
    let server = try await EtcdServer.single()
    let writer = try EtcdTest.client(server.url)
    try await writer.put("p/stable", "one")
    let following = Following(try EtcdTest.client(server.url))
    #expect(await following.has(["p/stable": "one"]))
    #expect(await following.isUp())
    for round in 0..<20 {
      let text = Array("\(round)".utf8)
      let change = try await writer.transaction(
        if: [], then: [.put("p/stable", text), .put("p/stable.release", text), .put("p/stage/d", text), .put("p/nodes/a", text)])
      #expect(await eventually { following.views.last?.revision ?? 0 >= change.revision })
    }
    #expect(await following.has(["p/stable": "19", "p/stable.release": "19", "p/stage/d": "19"]))
    // No view shows half of a transaction.
    for view in following.views.dropFirst() { #expect(Set(view.texts.values).count == 1, "\(view.texts)") }
    _ = try await writer.transaction(if: [], then: [.delete(.one("p/stage/d"))])
    #expect(await following.has(["p/stable": "19", "p/stable.release": "19"]))
    #expect(following.failures.isEmpty)
    #expect(following.follower.metrics.watches == 1)
    #expect(following.follower.metrics.revision == following.views.last?.revision)
  }

  @Test("compaction between the read and the watch: the keys are read again, and no failure is reported", .rule("fleet.4"))
  func compaction() async throws {
    let server = try await EtcdServer.single()
    let writer = try EtcdTest.client(server.url)
    try await writer.put("p/stable", "one")
    let (watches, compactions) = (Count(), Count())
    let settings = try EtcdTest.settings([server.url])
    let transport = try HookedTransport(settings) { request in
      guard request.url.path == "/v3/watch", case let number = watches.next(), number < EtcdFollowerTests.keys.count else {
        return nil
      }
      // No range is watched before the compaction.
      guard number == 0 else {
        _ = await eventually { compactions.value > 0 }
        return nil
      }
      for text in ["two", "three", "four"] { try await writer.put("p/stable", text) }
      let revision = try await writer.range(.init(.one("p/stable"))).revision
      _ = try await server.ask("/v3/kv/compaction", ["revision": .string("\(revision)")])
      compactions.next()
      return nil
    }
    let following = Following(try EtcdClient(settings, over: transport))
    #expect(await following.has(["p/stable": "four"]))
    #expect(following.failures.isEmpty)
    #expect(following.follower.metrics.failures == [.compacted: 1])
    #expect(await eventually { watches.value > Self.keys.count && following.follower.metrics.isUp })
    try await writer.put("p/stable", "five")
    #expect(await following.has(["p/stable": "five"]))
  }

  @Test("after a kill the next member is watched, and no change is lost", .rule("fleet.4"))
  func killed() async throws {
    let servers = try await EtcdServer.cluster(3)
    let following = Following(try client(servers))
    #expect(await following.isUp())
    servers[0].end()
    let writer = try client([servers[1], servers[2]])
    #expect(await eventually { try await writer.put("p/stable", "after").hasSucceeded })
    #expect(await following.has(["p/stable": "after"]))
  }

  @Test("while the only member is down the last view stays, and after its restart changes arrive again", .rule("fleet.4"))
  func restarted() async throws {
    let server = try await EtcdServer.single()
    let writer = try EtcdTest.client(server.url)
    try await writer.put("p/stable", "one")
    let following = Following(try client([server]))
    #expect(await following.has(["p/stable": "one"]))
    server.end()
    #expect(await eventually { following.failures.last?.code == .unavailable && !following.follower.metrics.isUp })
    #expect(following.texts == ["p/stable": "one"])
    try await server.restart()
    #expect(await following.isUp())
    #expect(await eventually { try await writer.put("p/stable", "two").hasSucceeded })
    #expect(await following.has(["p/stable": "two"]))
  }

  @Test("a member that is stopped is left, though its connections stay open", .rule("fleet.4"))
  func stopped() async throws {
    let servers = try await EtcdServer.cluster(3)
    let following = Following(try client(servers))
    #expect(await following.isUp())
    try await servers[0].stop()
    let writer = try client([servers[1], servers[2]])
    #expect(await eventually { try await writer.put("p/stable", "after").hasSucceeded })
    #expect(await following.has(["p/stable": "after"]))
  }

  @Test("a cluster that loses two of three members ends the watch; when they are back, changes arrive again", .rule("fleet.4"))
  func lostMembers() async throws {
    let servers = try await EtcdServer.cluster(3)
    let writer = try client(servers)
    #expect(await eventually { try await writer.put("p/stable", "one").hasSucceeded })
    // It knows the remaining member only.
    let following = Following(try client([servers[0]]))
    #expect(await following.has(["p/stable": "one"]))
    #expect(await following.isUp())
    servers[1].end()
    servers[2].end()
    #expect(await eventually { following.failures.last?.code == .unavailable && !following.follower.metrics.isUp })
    #expect(following.texts == ["p/stable": "one"])
    async let second: Void = servers[1].restart()
    async let third: Void = servers[2].restart()
    _ = try await (second, third)
    #expect(await eventually { try await writer.put("p/stable", "two").hasSucceeded })
    #expect(await following.has(["p/stable": "two"]))
  }

  @Test("a watch that stays silent is begun again when the keys are ahead of it", .rule("fleet.4"))
  func lag() async throws {
    let server = try await EtcdServer.single()
    let writer = try EtcdTest.client(server.url)
    var settings = try EtcdTest.settings([server.url])
    settings.limits.checkInterval = .milliseconds(50)
    settings.limits.maximumLag = .milliseconds(50)
    let (watches, reads) = (Count(), Count())
    let transport = try HookedTransport(settings) { request in
      guard request.url.path == "/v3/watch" else {
        reads.next()
        return nil
      }
      // The first watch of each range is silent.
      guard watches.next() < EtcdFollowerTests.keys.count else { return nil }
      let pulls = Count()
      let created = Data("{\"result\":{\"created\":true}}\n".utf8)
      return HTTPResponse(
        response: HTTPURLResponse(url: request.url, statusCode: 200, headers: [:]),
        chunks: PullStream {
          if pulls.next() == 0 { return .element(created) }
          try await Task.sleep(for: .seconds(100_000))
          return .end
        })
    }
    let following = Following(try EtcdClient(settings, over: transport))
    #expect(await following.isUp())
    // No change, so silence is right.
    try await writer.put("p/nodes/a", "x")
    let before = reads.value
    #expect(await eventually { reads.value > before + 10 })
    #expect(watches.value == Self.keys.count && following.failures.isEmpty)
    try await writer.put("p/halt/d", "x")
    #expect(await following.has(["p/halt/d": "x"]))
    #expect(await eventually { watches.value > Self.keys.count })
    #expect(following.failures.first?.message.contains("behind the keys") == true)
  }

  @Test("a slow reader gets the last view, and its watch is not begun again", .rule("fleet.4"))
  func slowReader() async throws {
    let server = try await EtcdServer.single()
    let writer = try EtcdTest.client(server.url)
    var settings = try EtcdTest.settings([server.url])
    settings.limits.checkInterval = .milliseconds(20)
    settings.limits.maximumLag = EtcdTest.patience
    let follower = EtcdFollower(try EtcdClient(settings), Self.keys)
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let record = Recording()
    let task = Task {
      try await follower.run { report in
        if record.add(report) == 1 { for await _ in gate {} }
      }
    }
    defer { task.cancel() }
    #expect(await eventually { follower.metrics.isUp })
    for round in 0..<10 { try await writer.put("p/stable", "\(round)") }
    let revision = try await writer.range(.init(.one("p/stable"))).revision
    #expect(await eventually { follower.metrics.revision == revision })
    opening.finish()
    #expect(await eventually { record.reports.count == 2 })
    #expect(record.reports.last == .view(try await writer.view(of: Self.keys)))
    #expect(follower.metrics.watches == 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!follower.metrics.isUp)
  }

  @Test("a denied follower reports the denial, and follows when the role may read", .rule("fleet.3"))
  func denied() async throws {
    let server = try await EtcdServer.single()
    try await server.enableLogins()
    var settings = try EtcdTest.settings([server.url])
    settings.login = .init(user: "node", password: "secret")
    settings.limits.maximumDelay = .milliseconds(500)
    let follower = EtcdFollower(try EtcdClient(settings), [.all(prefix: "q/")])
    let task = Task { try await follower.run { _ in } }
    defer { task.cancel() }
    #expect(await eventually { follower.metrics.failures[.denied] ?? 0 > 0 })
    let root = try #require(
      try await server.ask("/v3/auth/authenticate", ["name": "root", "password": "secret"])["token"]?.string)
    _ = try await server.ask(
      "/v3/auth/role/grant",
      ["name": "reader", "perm": ["permType": "READ", "key": .string(Base64.encoded("q/".utf8)), "range_end": "cTA="]],
      token: root)
    #expect(await eventually { follower.metrics.isUp })
  }
}
