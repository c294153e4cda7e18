import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The plugin redis-cache in gateways, with a real redis-server.
@Suite("Catalogue: redis-cache")
struct RedisCacheTests {
  private let upstream: CountingUpstream
  private let folder: StoreFolder
  private let redis: RedisServer

  init() async throws {
    upstream = try CountingUpstream()
    folder = try StoreFolder()
    redis = try await RedisServer()
  }

  /// A gateway whose reads have time, because the machine of a test may be busy.
  private func gateway(_ extra: String = "") async throws -> CachingGateway {
    try await CachingGateway(folder, url: redis.url, "read-budget-milliseconds: 10000, \(extra)", upstream: upstream)
  }

  @Test("a response is stored once for two gateways, and the order of variables does not matter")
  func shared() async throws {
    let (one, other) = (try await gateway(), try await gateway())
    let first = try await one.hit("query A { n }")
    #expect(try await other.hit("query A { n }") == first)
    #expect(try redis.entries().count == 1)
    let query = "query B($a: Int, $b: [Int]) { n }"
    let second = try await one.hit(query, variables: #"{"a": 1, "b": [1, 2]}"#)
    #expect(try one.answer(query, variables: #"{ "b":[1,2],"a":1 }"#) == second)
    #expect(try other.answer(query, variables: #"{"b":[1,2],"a":1}"#) == second)
    #expect(try other.answer(query, variables: #"{"b":[2,1],"a":1}"#) != second)
    let key = try #require(try redis.entries().first)
    #expect(key.wholeMatch(of: /\{crb:shop\}:q:[0-9a-f]{64}/) != nil, "\(key)")
    // The time to live is 60 s.
    let seconds = try #require(Int(try redis.ask("TTL", key)))
    #expect((1...60).contains(seconds))
  }

  @Test("two clients never share a response, unless it is public")
  func clients() async throws {
    let one = try await gateway("headers: [X-User]")
    let ada = try await one.hit("query A { n }", headers: ["X-User: ada"])
    #expect(ada.hasSuffix("ada"))
    let bob = try await one.hit("query A { n }", headers: ["x-user: bob"])
    #expect(bob.hasSuffix("bob"))
    #expect(try await one.hit("query A { n }").hasSuffix("nobody"))
    #expect(try await one.hit("query A { n }", headers: ["X-User: ada"]) == ada)
    let token = try await one.hit("query A { n }", headers: ["Authorization: Bearer a"])
    #expect(token.hasSuffix("Bearer a"))
    #expect(try await one.hit("query A { n }", headers: ["Authorization: Bearer b"]).hasSuffix("Bearer b"))
    #expect(try one.answer("query A { n }", headers: ["Cookie: session=1"]) != ada)
    let open = try await gateway("public: true, prefix: open")
    let all = try await open.hit("query A { n }", headers: ["Authorization: Bearer a"])
    #expect(try await open.hit("query A { n }", headers: ["Authorization: Bearer b"]) == all)
  }

  @Test("mutations, errors, large responses and those that the upstream forbids are never stored")
  func neverStored() async throws {
    let gateway = try await gateway("maximum-entry-bytes: 4096, operations: {Off: 0}")
    _ = try await gateway.hit("query A { n }")
    let before = try redis.ask("DBSIZE")
    for query in [
      "mutation M { n }", "query Failing { n }", "query Partly { n }", "query Empty { n }", "query Large { n }",
      "query Refused { n }", "query Secret { n }", "query Own { n }", "query Cookie { n }", "query Off { n }",
      "query Long { n } # \(String(repeating: "x", count: 140_000))",
    ] {
      let count = upstream.count
      for _ in 0..<2 { _ = try gateway.answer(query) }
      #expect(upstream.count >= count + 2, "\(query)")
    }
    // A later entry is there, so earlier ones would be too.
    _ = try await gateway.hit("query Last { n }")
    #expect(try Int(redis.ask("DBSIZE")) == (Int(before) ?? 0) + 1)
  }

  @Test("the time to live is that of the operation, of the upstream or of the configuration")
  func times() async throws {
    let gateway = try await gateway("ttl-seconds: 1000, operations: {Named: 100, Brief: 1}")
    for (query, range) in [("Plain", 900...1000), ("Named", 10...100), ("Aged", 4900...5000)] {
      _ = try redis.ask("FLUSHALL")
      _ = try await gateway.hit("query \(query) { n }")
      let key = try #require(try redis.entries().first)
      let seconds = Int(try redis.ask("TTL", key)) ?? 0
      #expect(range.contains(seconds), "\(query): \(seconds)")
    }
    let first = try gateway.answer("query Brief { n }")
    #expect(await eventually { try gateway.answer("query Brief { n }") != first })
  }

  @Test("a new epoch ends all responses of all gateways at once")
  func epoch() async throws {
    let (one, other) = (try await gateway(), try await gateway())
    let first = try await one.hit("query A { n }")
    #expect(try await other.hit("query A { n }") == first)
    #expect(try redis.ask("SET", "{crb:shop}:epoch", "2") == "OK")
    let second = try one.answer("query A { n }")
    #expect(second != first)
    #expect(try await other.hit("query A { n }") != first)
    #expect(try redis.ask("INCR", "{crb:shop}:epoch") == "3")
    #expect(try await other.hit("query A { n }") != second)
  }

  @Test(
    "a Redis that stops, goes on, dies and comes back fails no operation and changes no readiness",
    .rule("convention.5", "gateway.25"))
  func failures() async throws {
    let gateway = try await CachingGateway(folder, url: redis.url, "read-budget-milliseconds: 250", upstream: upstream)
    _ = try await gateway.hit("query A { n }")
    func serve(_ state: String) throws {
      for number in 0..<10 {
        let answer = try gateway.process.query("query \(state)\(number) { n }")
        #expect(answer.status == 200 && answer.text.contains(#""n":"#), "\(state): \(answer.text)")
      }
      #expect(try RawAnswer("\(gateway.process.origin)/readyz").status == 200)
    }
    try await redis.stop()
    try serve("Stopped")
    // The circuit is open: reads do not wait any more.
    #expect(await gateway.logs("not answered within read-budget-milliseconds"), "\(gateway.process.errors)")
    redis.proceed()
    try serve("Continued")
    _ = try await gateway.hit("query B { n }")
    #expect(await gateway.logs("connected again"))
    redis.end()
    try serve("Dead")
    try await redis.restart()
    try serve("Restarted")
    _ = try await gateway.hit("query C { n }")
    #expect(try redis.entries().count >= 1)
  }

  @Test("a server that is not the primary any more is left, and responses are stored again once there is a primary")
  func demoted() async throws {
    let gateway = try await gateway()
    _ = try await gateway.hit("query A { n }")
    #expect(try redis.ask("REPLICAOF", "127.0.0.1", "1") == "OK")
    #expect(try gateway.process.query("query B { n }").status == 200)
    #expect(await gateway.logs("refuses commands: READONLY"), "\(gateway.process.errors)")
    #expect(try redis.ask("REPLICAOF", "NO", "ONE") == "OK")
    #expect(await gateway.logs("connected again"))
    _ = try await gateway.hit("query C { n }")
  }

  @Test("a refused login is in the log without the password, and a user with the least permissions works")
  func login() async throws {
    let permissions = try redis.ask(
      "ACL", "SETUSER", "gateway", "on", ">open-sesame", "~{crb:shop}:*", "-@all", "+ping", "+mget", "+set")
    #expect(permissions == "OK")
    let right = try await CachingGateway(
      folder, url: redis.url, "read-budget-milliseconds: 10000, user: gateway, password: '${env:REDIS_PASSWORD}'",
      upstream: upstream, environment: ["REDIS_PASSWORD": "open-sesame"])
    _ = try await right.hit("query A { n }")
    for password in ["wrong-sesame", "wrong \\r\\nPING"] {
      let wrong = try await CachingGateway(folder, url: redis.url, "user: gateway, password: \"\(password)\"", upstream: upstream)
      #expect(try wrong.answer("query A { n }").isEmpty == false)
      #expect(await wrong.logs("the server refuses the login: WRONGPASS"), "\(wrong.process.errors)")
      #expect(!wrong.process.errors.contains("sesame") && !wrong.process.errors.contains("PING"))
    }
    #expect(try redis.ask("CONFIG", "SET", "requirepass", "other") == "OK")
    let anonymous = try await CachingGateway(folder, url: redis.url, "", upstream: upstream)
    #expect(await anonymous.logs("the server refuses a PING: NOAUTH"), "\(anonymous.process.errors)")
  }

  @Test("TLS: a certificate of the given authority is trusted, any other is not")
  func secure() async throws {
    let files = try await CertificateFiles()
    let secure = try await RedisServer(files.server(), isSecure: true)
    func gateway(_ ca: String) async throws -> CachingGateway {
      try await CachingGateway(
        folder, url: "rediss://127.0.0.1:\(secure.port)", "read-budget-milliseconds: 10000, ca-file: \(files.path(ca))",
        upstream: upstream)
    }
    let right = try await gateway("authority.pem")
    // More than a record of TLS.
    _ = try await right.hit("query Large { n }")
    let wrong = try await gateway("other.pem")
    #expect(await wrong.logs("the certificate of the server is not trusted"), "\(wrong.process.errors)")
    #expect(try wrong.answer("query A { n }").isEmpty == false)
  }

  @Test("in a worker there is no socket: all operations are served, nothing is cached, and the log says why")
  func worker() async throws {
    let gateway = try await CachingGateway(folder, url: redis.url, "", upstream: upstream, entry: "isolation: worker")
    #expect(await gateway.logs("sockets are refused here, as in a worker"), "\(gateway.process.errors)")
    let count = upstream.count
    for _ in 0..<3 { #expect(try gateway.answer("query A { n }").isEmpty == false) }
    #expect(upstream.count == count + 3)
    #expect(try redis.ask("DBSIZE") == "0")
  }

  @Test(
    "mistakes are named by their place",
    arguments: [
      ("{url: 'redis://localhost'}", "/plugins/0/config"),
      ("{url: 'http://localhost', prefix: a}", "/url: it begins with redis://"),
      ("{url: 'redis://:secret@localhost', prefix: a}", "/url: a password in a URL"),
      ("{url: 'redis://localhost:0', prefix: a}", "/url: the port"),
      ("{url: 'redis://localhost/x', prefix: a}", "/url: the database"),
      ("{url: 'redis://localhost', prefix: 'a:b'}", "/plugins/0/config/prefix"),
      ("{url: 'redis://localhost', prefix: a, headers: ['a b']}", "/plugins/0/config/headers/0"),
      ("{url: 'redis://localhost', prefix: a, user: b}", "/user: a user needs a password"),
      ("{url: 'redis://localhost', prefix: a, ca-file: b}", "/ca-file: certificates are for URLs with rediss://"),
      ("{url: 'rediss://localhost', prefix: a, ca-file: /no/such/file}", "/ca-file: there are no certificates"),
      (
        "{url: 'redis://localhost', prefix: a, maximum-entry-bytes: 65536, write-queue-bytes: 65536}",
        "/write-queue-bytes: it must be larger"
      ),
    ])
  func mistakes(_ config: String, _ place: String) async throws {
    let manifest = try TemporaryFile(
      "carabiner: 1\nplugins: [{name: redis, file: \(CachingGateway.plugin), config: \(config)}]\nchain: {cache: [redis]}\n")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 3)
    #expect(run.errors.contains(place), "\(run.errors)")
    #expect(!run.errors.contains("secret"), "\(run.errors)")
  }
}
