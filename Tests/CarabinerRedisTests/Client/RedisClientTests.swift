import CarabinerRESP
import CarabinerRedis
import Foundation
import Logging
import TestTools
import Testing

/// The client with a real redis-server.
@Suite("Commands to a real Redis")
struct RedisClientTests {
  /// The ACL that the rules name as the least.
  private static let leastACL =
    "~{crb:shop}* &{crb:shop}* -@all +hello +auth +client|setname +ping +time +hmget +hset +hlen +get +set +incrby +pexpire "
    + "+unlink +multi +exec +discard +watch +unwatch +publish +subscribe +unsubscribe"

  /// A server that knows HELLO, or only RESP2.
  private static func server(isRESP3: Bool, _ arguments: [String] = []) async throws -> RedisServer {
    try await RedisServer((isRESP3 ? [] : ["--rename-command", "HELLO", ""]) + arguments)
  }

  @Test(
    "commands are answered in both protocols, and the connection has the node's name", .rule("redis.2", "redis.3"),
    arguments: [true, false])
  func commands(isRESP3: Bool) async throws {
    let server = try await Self.server(isRESP3: isRESP3)
    let test = try TestClient(server.url)
    await test.opened()
    #expect(await test.ask("HSET", "k", "a", "1", "b", "ü") == "2")
    #expect(await test.ask("HMGET", "k", "b", "none", "a") == "[ü nil 1]")
    #expect(await test.ask("GET", "none") == "nil")
    #expect(await test.ask("GET", "k") == "WRONGTYPE")
    let large = String(repeating: "x", count: 3_000_000)
    #expect(await test.ask("SET", "large", large) == "OK")
    #expect(await test.ask("GET", "large") == large)
    let list = try server.ask("CLIENT", "LIST")
    #expect(list.contains("name=carabiner-test ") && list.contains(isRESP3 ? "resp=3" : "resp=2"), "\(list)")
    await test.client.shutDown()
    #expect(await test.ask("PING") == "unavailable")
  }

  @Test("the database of the URL is selected", .rule("redis.1"))
  func database() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url + "/5")
    await test.opened()
    #expect(await test.ask("SET", "k", "v") == "OK")
    #expect(try server.ask("-n", "5", "GET", "k") == "v")
  }

  @Test("of several URLs the first that can be reached is used", .rule("redis.1"))
  func severalURLs() async throws {
    let server = try await RedisServer()
    let url = try RedisURL(server.url)
    let test = try TestClient("redis://127.0.0.1:1") { $0.urls.append(url) }
    await test.opened()
    #expect(test.log.has(.warning, "nothing accepts connections at redis://127.0.0.1:1"), "\(test.log.lines)")
  }

  // MARK: A server that is not the primary any more

  @Test("after a refusal of a server that was demoted, the next URL is used, and the log names the cause")
  func demoted() async throws {
    let (first, second) = (try await RedisServer(), try await RedisServer())
    let url = try RedisURL(second.url)
    let test = try TestClient(first.url) { $0.urls.append(url) }
    await test.opened()
    #expect(try first.ask("REPLICAOF", "127.0.0.1", "\(second.port)") == "OK")
    // A replica that reads its data says LOADING.
    let refusal = await test.ask("SET", "k", "v")
    #expect(["READONLY", "LOADING"].contains(refusal))
    #expect(await eventually { await test.ask("SET", "k", "v") == "OK" })
    #expect(try second.ask("GET", "k") == "v")
    #expect(test.log.has(.warning, "\(first.url) refuses commands ("), "\(test.log.lines)")
    #expect(test.eventList == ["opened", "lost", "opened"])
  }

  @Test("the only address of a server that refuses commands is asked again, and then less and less often")
  func demotedAlone() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url) { $0.limits.refusalTime = .seconds(1000) }
    await test.opened()
    #expect(try server.ask("REPLICAOF", "127.0.0.1", "1") == "OK")
    #expect(await test.ask("SET", "k", "v") == "READONLY")
    #expect(await eventually { test.eventList == ["opened", "lost", "opened"] && test.client.isAvailable })
    #expect(test.log.has(.warning, "refuses commands (READONLY)"), "\(test.log.lines)")
    for _ in 0..<3 { #expect(await test.ask("SET", "k", "v") == "READONLY") }
    #expect(try server.ask("REPLICAOF", "NO", "ONE") == "OK")
    #expect(await test.ask("SET", "k", "v") == "OK")
    #expect(test.eventList == ["opened", "lost", "opened"])
  }

  @Test("a server without enough replicas is left, and errors of single commands are not refusals of a server")
  func unfit() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    #expect(await test.ask("SET", "k", "v") == "OK")
    #expect(await test.ask("INCR", "k") == "ERR")
    #expect(await test.ask("HLEN", "k") == "WRONGTYPE")
    #expect(test.eventList == ["opened"])
    #expect(try server.ask("CONFIG", "SET", "min-replicas-to-write", "1") == "OK")
    #expect(await test.ask("SET", "k", "v") == "NOREPLICAS")
    #expect(await eventually { test.eventList.contains("lost") })
    #expect(test.log.has(.warning, "(NOREPLICAS)"), "\(test.log.lines)")
  }

  // MARK: Login

  @Test("with the right login commands run", .rule("redis.3"), arguments: [true, false], [nil, "node"] as [String?])
  func rightLogin(isRESP3: Bool, user: String?) async throws {
    let server = try await Self.server(
      isRESP3: isRESP3, ["--requirepass", "pass word", "--user", "node", "on", ">pass word", "~*", "&*", "+@all"])
    let test = try TestClient(server.url) { ($0.user, $0.password) = (user, "pass word") }
    await test.opened()
    #expect(await test.ask("SET", "k", "v") == "OK")
  }

  @Test(
    "a refused login is a failed connection with a critical log line, and no command runs", .rule("redis.3"),
    arguments: [true, false],
    ["wrong s3cret", nil] as [String?])
  func wrongLogin(isRESP3: Bool, password: String?) async throws {
    // The default user may do everything without a login; the user of the client has another password.
    let server = try await Self.server(
      isRESP3: isRESP3,
      password == nil ? ["--requirepass", "right"] : ["--user", "node", "on", ">right", "~*", "&*", "+@all"])
    let test = try TestClient(server.url) { ($0.user, $0.password) = (password == nil ? nil : "node", password) }
    #expect(
      await eventually {
        test.log.has(.critical, password == nil ? "(NOAUTH); set user and password" : "(WRONGPASS); check user and password")
      }, "\(test.log.lines)")
    #expect(await test.ask("SET", "k", "v") == "unavailable")
    #expect(!test.client.isAvailable)
    #expect(!test.log.lines.joined().contains("s3cret"))
    // The same failure is logged once, although connecting is tried again.
    try await Task.sleep(for: .milliseconds(500))
    #expect(test.log.lines.count == 1, "\(test.log.lines)")
  }

  @Test("the least ACL is enough for all commands of a store, and for nothing else", .rule("redis.3"))
  func leastACL() async throws {
    let server = try await RedisServer(["--user", "node", "on", ">right"] + Self.leastACL.split(separator: " ").map(String.init))
    func change(_ settings: inout RedisSettings) { (settings.user, settings.password) = ("node", "right") }
    let test = try TestClient(server.url, change)
    await test.opened()
    let key = "{crb:shop} r:Book:1"
    let transaction = CommandBatch(
      ["HSET", key, "a", "1"], ["PEXPIRE", key, "60000"], ["PUBLISH", "{crb:shop} c", "x"], ["HMGET", key, "a"], ["HLEN", key],
      ["SET", "{crb:shop} v", "1"], ["GET", "{crb:shop} v"], ["INCRBY", "{crb:shop} n", "2"], ["UNLINK", key], ["TIME"])
    let replies = try await test.client.transaction(transaction, within: TestClient.patience)
    #expect(replies.dropLast().map(\.line) == ["1", "1", "0", "[1]", "1", "OK", "1", "2", "1"])
    #expect(await test.ask("WATCH", key) == "OK")
    #expect(await test.ask("UNWATCH") == "OK")
    for refused in [["FLUSHALL"], ["EVAL", "return 1", "0"], ["KEYS", "*"], ["GET", "other"], ["PUBLISH", "other", "x"]] {
      #expect(await test.ask(refused) == "NOPERM", "\(refused)")
    }
    let own = try TestClient(server.url, channels: ["{crb:shop} c"], change)
    await own.opened()
    let foreign = try TestClient(server.url, channels: ["other"], change)
    #expect(await eventually { foreign.log.has(.critical, "refused to subscribe (NOPERM)") }, "\(foreign.log.lines)")
  }

  // MARK: Pipelining

  @Test("10,000 commands of as many callers are pipelined, each with its own answer", .rule("redis.4"), arguments: [1, 8])
  func pipelining(connections: Int) async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url) { $0.connections = connections }
    #expect(
      await eventually {
        try server.ask("CLIENT", "LIST").split(separator: "\n").count { $0.contains("carabiner-") } == connections
      })
    await test.opened()
    let right = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<10_000 { group.addTask { await test.ask("ECHO", "number \(number)") == "number \(number)" } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(right == 10_000)
    #expect(test.client.waitingCommands == 0)
  }

  @Test("at most 10,000 commands or 8 MiB wait; more are refused at once, and the others are answered", .rule("redis.4"))
  func bounds() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url)
    await test.opened()
    try await server.stop()
    var pings = CommandBatch()
    for _ in 0..<10_000 { pings.add(["PING"]) }
    let first = Task { [pings] in try await test.client.send(pings, within: TestClient.patience).map(\.line) }
    #expect(await eventually { test.client.waitingCommands == 10_000 })
    #expect(await test.ask("PING") == "overloaded")
    server.proceed()
    #expect(try await first.value == Array(repeating: "PONG", count: 10_000))
    try await server.stop()
    let large = String(repeating: "x", count: 4_100_000)
    let writes = (0..<2).map { number in Task { await test.ask("SET", "k\(number)", large) } }
    #expect(await eventually { test.client.waitingCommands == 2 })
    #expect(await test.ask("SET", "k", large) == "overloaded")
    #expect(await test.ask("SET", "k", String(repeating: "x", count: 300_000)) == "overloaded")
    server.proceed()
    for write in writes { #expect(await write.value == "OK") }
    #expect(await test.ask("GET", "k") == "nil")
  }

  @Test("no command waits for a connection to be made", .rule("redis.4"))
  func noWaiting() async throws {
    let silent = try await RedisServer()
    try await silent.stop()
    let test = try TestClient(silent.url)
    #expect(await test.ask("PING") == "unavailable")
    silent.proceed()
    await test.opened()
    #expect(await test.ask("PING") == "PONG")
  }

  // MARK: Transactions

  @Test(
    "a transaction is sent in one piece, and one that Redis refuses runs nothing", .rule("redis.2"), arguments: [true, false])
  func transactions(isRESP3: Bool) async throws {
    let server = try await Self.server(isRESP3: isRESP3)
    let test = try TestClient(server.url)
    await test.opened()
    let commands = CommandBatch(["HSET", "h", "a", "1"], ["GET", "h"], ["INCR", "n"])
    #expect(try await test.client.transaction(commands, within: TestClient.patience).map(\.line) == ["1", "WRONGTYPE", "1"])
    let error = await #expect(throws: RedisError.self) {
      try await test.client.transaction(CommandBatch(["INCR", "n"], ["INCR", "n", "too many"]), within: TestClient.patience)
    }
    #expect(error?.code == .transactionRefused && error?.message.contains("wrong number of arguments") == true)
    #expect(await test.ask("GET", "n") == "1")
    // Transactions of many callers do not mix.
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          let replies = try? await test.client.transaction(
            CommandBatch(["INCR", "m"], ["INCR", "m"]), within: TestClient.patience)
          let numbers = replies?.compactMap(\.integer) ?? []
          #expect(numbers.count == 2 && numbers.last == (numbers.first ?? 0) + 1)
        }
      }
    }
    #expect(await test.ask("GET", "m") == "400")
  }

  // MARK: Channels

  @Test(
    "messages of a channel are passed on, and a lost subscription is reported and made again", .rule("redis.4"),
    arguments: [true, false])
  func channels(isRESP3: Bool) async throws {
    let server = try await Self.server(isRESP3: isRESP3)
    let test = try TestClient(server.url, channels: ["a", "b"]) { $0.limits.heartbeat = .seconds(1) }
    await test.opened()
    #expect(test.eventList == ["opened"])
    #expect(try server.ask("PUBLISH", "b", "one") == "1")
    #expect(await eventually { test.eventList == ["opened", "message b one"] }, "\(test.eventList)")
    // Heartbeats are not messages, and a connection that answers them stays open.
    #expect(await eventually { try server.ask("INFO", "commandstats").contains("cmdstat_ping:calls=3") })
    #expect(test.eventList.count == 2, "\(test.eventList)")
    _ = try server.ask("CLIENT", "KILL", "TYPE", "pubsub")
    #expect(await eventually { test.eventList.suffix(2) == ["lost", "opened"] }, "\(test.eventList)")
    #expect(try server.ask("PUBLISH", "a", "two") == "1")
    #expect(await eventually { test.eventList.last == "message a two" })
  }

  @Test("a subscription to a silent server is lost after a PING without answer", .rule("redis.4"))
  func silentSubscription() async throws {
    let server = try await RedisServer()
    let test = try TestClient(server.url, channels: ["a"]) { $0.limits.heartbeat = .milliseconds(200) }
    await test.opened()
    try await server.stop()
    #expect(await eventually { test.eventList.last == "lost" })
    #expect(test.log.has(.warning, "answers no PING"), "\(test.log.lines)")
    server.proceed()
    #expect(await eventually { test.eventList.last == "opened" })
  }
}
