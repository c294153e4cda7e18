import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// `carabiner cache` and a real redis-server.
@Suite("carabiner cache: a store in Redis")
struct RedisCacheCommandTests {
  private let folder: StoreFolder
  private let redis: RedisServer

  init() async throws {
    folder = try StoreFolder()
    redis = try await RedisServer()
    for number in 1...3 {
      try record("Book:\(number)", ["__typename": #""Book""#, "id": "\(number)"])
      try record("Author:a\(number)", ["__typename": #""Author""#, "name": #""ü""#])
    }
    _ = try redis.ask("SET", "{crb:shop}:f:QUERY_ROOT|books", #"1700000000000[{"$ref":"Book:1"}]"#)
    _ = try redis.ask("SET", "{crb:shop}:f:QUERY_ROOT|n", "17000000060001")
  }

  private func record(_ key: String, _ fields: [String: String]) throws {
    for (name, value) in fields { _ = try redis.ask("HSET", "{crb:shop}:r:\(key)", name, "1700000000000\(value)") }
  }

  private func cache(_ arguments: String...) async throws -> CommandRun {
    try await CommandRun(["cache", arguments[0], "--store", redis.url, "--prefix", "shop"] + arguments.dropFirst())
  }

  private func keys(_ run: CommandRun) throws -> [String?] {
    #expect(run.status == 0, "\(run.errors)")
    return try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0))["key"]?.string }
  }

  @Test("ls, get and stats find keys by SCAN, and never use KEYS", .rule("redis.20"))
  func reading() async throws {
    let (books, authors) = ((1...3).map { "Book:\($0)" }, (1...3).map { "Author:a\($0)" })
    #expect(try keys(await cache("ls", "--format", "json")) == authors + books + ["QUERY_ROOT"])
    #expect(try keys(await cache("ls", "--format", "json", "--type", "Book")) == books)
    #expect(try keys(await cache("ls", "--format", "json", "*:*2")) == ["Author:a2", "Book:2"])
    #expect(try await cache("ls", "QUERY_ROOT").output.hasSuffix("QUERY_ROOT  (Query)\n"))
    let book = try JSONValue(parsing: await cache("get", "Book:2", "--format", "json").output)
    #expect(book["type"] == "Book" && book["fields"]?["id"]?["value"] == 2, "\(book)")
    let root = try JSONValue(parsing: await cache("get", "QUERY_ROOT", "--format", "json").output)
    #expect(root["fields"]?["books"]?["value"] == [["$ref": "Book:1"]] && root["fields"]?["n"]?["value"] == 1, "\(root)")
    let absent = try await cache("get", "Book:9")
    #expect(absent.status == 1 && absent.output.isEmpty)
    let statistics = try JSONValue(parsing: await cache("stats", "--format", "json").output)
    #expect(statistics["records"] == 7 && statistics["fields"] == 14 && statistics["fileBytes"] == .null, "\(statistics)")
    let text = try await cache("stats").output
    #expect(text.contains("records          7\n") && text.contains("\(redis.url) shop"), "\(text)")
    #expect(!text.contains("write-ahead"), "\(text)")
    // A prefix that was mistyped does not make a store.
    let absentStore = try await CommandRun(["cache", "ls", "--store", redis.url, "--prefix", "shp"])
    #expect(absentStore.status == 0 && absentStore.output.isEmpty, "\(absentStore.errors)")
    #expect(try redis.ask("EXISTS", "{crb:shp}:v", "{crb:shop}:v") == "0")
    let commands = try redis.ask("INFO", "commandstats")
    #expect(commands.contains("cmdstat_scan") && !commands.contains("cmdstat_keys"), "\(commands)")
  }

  @Test(
    "--cluster reads and removes in a cluster, from any node, and --spread on all", .rule("redis.19", "redis.20"),
    arguments: [false, true])
  func cluster(isSpread: Bool) async throws {
    let cluster = try await ClusterServers()
    for number in 1...9 {
      let key = isSpread ? "{crb:shop:r:Book:\(number)}" : "{crb:shop}:r:Book:\(number)"
      let owner = try cluster.owner(of: cluster.slot(of: key))
      _ = try cluster.nodes[owner].ask("HSET", key, "id", "1700000000000\(number)")
    }
    func cache(_ arguments: [String], at node: Int) async throws -> CommandRun {
      let options = ["--store", cluster.nodes[node].url, "--prefix", "shop", "--cluster"] + (isSpread ? ["--spread"] : [])
      return try await CommandRun(["cache", arguments[0]] + options + arguments.dropFirst())
    }
    for node in 0..<3 {
      #expect(try keys(await cache(["ls", "--format", "json"], at: node)) == (1...9).map { "Book:\($0)" })
    }
    #expect(try await cache(["rm", "Book:1", "Book:2"], at: 0).output == "removed 2 records\n")
    #expect(try await cache(["rm", "--all"], at: 1).output == "removed 7 records\n")
    let spread = try await CommandRun(["cache", "ls", "--store", redis.url, "--prefix", "shop", "--spread"])
    #expect(spread.status == 2 && spread.errors.contains("--spread needs --cluster"), "\(spread.errors)")
    let file = try await CommandRun(["cache", "ls", "--store", "x.db", "--cluster"])
    #expect(file.status == 2 && file.errors.contains("--cluster are for --store redis://"), "\(file.errors)")
  }

  @Test("rm removes by key, pattern or all, and touches neither other stores nor other keys of the database", .rule("redis.20"))
  func removing() async throws {
    _ = try redis.ask("SET", "other", "1")
    _ = try redis.ask("HSET", "{crb:shop2}:r:Book:1", "id", "17000000000001")
    #expect(try await cache("rm", "Book:1", "Book:1", "Book:9", "QUERY_ROOT").output == "removed 2 records\n")
    #expect(try await cache("rm", "--matching", "Author:*", "--format", "json").output == "{\"removed\":3}\n")
    #expect(try keys(await cache("ls", "--format", "json")) == ["Book:2", "Book:3"])
    #expect(try await cache("rm", "Book:9").output == "removed 0 records\n")
    #expect(try await cache("rm", "--all").output == "removed 2 records\n")
    #expect(try await cache("ls").output.isEmpty)
    #expect(try redis.ask("EXISTS", "other", "{crb:shop2}:r:Book:1") == "2")
    #expect(!(try redis.ask("INFO", "commandstats").contains("cmdstat_flush")))
  }

  @Test("the manifest names servers, prefix and login as well", .rule("redis.20"))
  func manifest() async throws {
    _ = try redis.ask("ACL", "SETUSER", "ops", "reset", "on", ">s3cret", "~*", "&*", "+@all")
    _ = try folder.write("s3cret\n", to: "password")
    let path = try folder.write(
      """
      carabiner: 1
      built-ins: {store: {redis: {urls: ["\(redis.url)"], user: ops, password: "${file:password}"}}}
      """, to: "shop.yaml")
    #expect(try keys(await CommandRun(["cache", "ls", "-m", path, "--format", "json", "Book:*"])).count == 3)
    let password = folder.file("password")
    #expect(try keys(await cache("ls", "--user", "ops", "--password-file", password, "--format", "json", "Book:*")).count == 3)
    _ = try folder.write("gu3ss", to: "password")
    let wrong = try await cache("ls", "--user", "ops", "--password-file", password)
    #expect(wrong.status == 3 && wrong.output.isEmpty)
    #expect(wrong.errors.contains("cannot be used") && wrong.errors.contains("critical"), "\(wrong.errors)")
    #expect(!wrong.errors.contains("gu3ss"))
    let absent = try await cache("ls", "--user", "ops", "--password-file", folder.file("absent"))
    #expect(absent.status == 2 && absent.errors.contains("the password cannot be read from"), "\(absent.errors)")
  }

  @Test("a server that is away is exit status 3", .rule("redis.20"))
  func away() async throws {
    redis.end()
    let run = try await cache("rm", "--all")
    #expect(run.status == 3 && run.output.isEmpty)
    #expect(run.errors.contains("the store in Redis at \(redis.url) shop cannot be used after 10 s"), "\(run.errors)")
  }

  @Test(
    "an invalid command line is exit status 2", .rule("redis.20"),
    arguments: [
      ["--store", "redis://127.0.0.1:1"], ["--store", "a", "--prefix", "shop"], ["--store", "a", "--user", "ops"],
      ["--store", "redis://u:s3cret@127.0.0.1:1", "--prefix", "shop"], ["--store", "redis://127.0.0.1:1", "--prefix", "a b"],
      ["-m", "chain.yaml", "--prefix", "shop"],
      ["--store", "redis://127.0.0.1:1", "--prefix", "shop", "--user", "ops"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await CommandRun(["cache", "ls"] + arguments)
    #expect(run.status == 2 && run.output.isEmpty, "\(run.errors)")
    #expect(!run.errors.contains("s3cret") && !run.errors.isEmpty)
  }
}
