import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

@Suite("carabiner cache", .rule("store.6"))
struct CacheCommandTests {
  private let folder: StoreFolder
  private var path: String { folder.file("cache.sqlite") }

  init() throws { folder = try StoreFolder() }

  /// Fills a store with the result of a query to the demo server.
  private func fill() async throws {
    let manifest = try folder.write("carabiner: 1\nbuilt-ins: {store: {file: cache.sqlite}}\n", to: "chain.yaml")
    let server = try DemoServerProcess()
    let run = try await CommandRun(
      ["run", "-m", manifest, "--endpoint", server.endpoint, "-"],
      input: "query Q { books { __typename id title author { __typename id name } } }")
    #expect(run.status == 0, "\(run.errors)")
  }

  private func sqlite(_ statements: String) async throws -> String {
    let run = try await ToolRun(URL(filePath: "/usr/bin/env"), ["sqlite3", path], input: statements)
    #expect(run.status == 0, "\(run.errors)")
    return run.output
  }

  private func cache(_ arguments: String...) async throws -> CommandRun {
    try await CommandRun(["cache", arguments[0], "--store", path] + arguments.dropFirst())
  }

  private func lines(_ run: CommandRun) throws -> [JSONValue] {
    try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
  }

  // MARK: Listing

  @Test("ls lists records in the order of their keys, all or those of a type or a pattern")
  func list() async throws {
    try await fill()
    let all = try lines(await cache("ls", "--format", "json"))
    let books = (1...5).map { "Book:\($0)" }
    let authors = (1...4).map { "Author:a\($0)" }
    #expect(all.map { $0["key"]?.string } == authors + books + ["QUERY_ROOT"])
    #expect(all.map { $0["type"]?.string } == authors.map { _ in "Author" } + books.map { _ in "Book" } + ["Query"])
    let solaris = try #require(all.first { $0["key"]?.string == "Book:2" })
    #expect(solaris["fields"]?.int == 4)
    let names = ["__typename", "id", "title", "author"].reduce(0) { $0 + $1.utf8.count }
    let values = [#""Book""#, #""2""#, #""Solaris""#, #"{"$ref":"Author:a2"}"#].reduce(0) { $0 + $1.utf8.count }
    #expect(solaris["bytes"]?.int == names + values)
    let now = Int(Date().timeIntervalSince1970 * 1000)
    #expect(((now - 120_000)...now).contains(solaris["oldest"]?.int ?? 0))
    #expect(solaris["newest"] == solaris["oldest"])

    #expect(try lines(await cache("ls", "--type", "Book", "--format", "json")).map { $0["key"]?.string } == books)
    for (pattern, keys) in [
      ("Book:*", books), ("*:a2", ["Author:a2"]), ("*:*2", ["Author:a2", "Book:2"]), ("Book:2", ["Book:2"]), ("Book", []),
      ("", []), ("*", authors + books + ["QUERY_ROOT"]),
    ] {
      #expect(try lines(await cache("ls", pattern, "--format", "json")).map { $0["key"]?.string } == keys, "\(pattern)")
    }
    let text = try await cache("ls", "Book:2")
    #expect(text.output.wholeMatch(of: /\s{5}4 +\d+  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  Book:2\n/) != nil, "\(text.output)")
    #expect(try await cache("ls", "QUERY_ROOT").output.hasSuffix("QUERY_ROOT  (Query)\n"))
  }

  @Test("the manifest's own name for the store does as well")
  func byManifest() async throws {
    try await fill()
    let run = try await CommandRun(["cache", "ls", "-m", folder.file("chain.yaml"), "Book:1"])
    #expect(run.status == 0)
    #expect(run.output.hasSuffix("Book:1\n"))
    let inMemory = try folder.write("carabiner: 1\n", to: "memory.yaml")
    let none = try await CommandRun(["cache", "ls", "-m", inMemory])
    #expect(none.status == 2)
    #expect(none.errors.contains("keeps its store in memory"))
    let absent = try await CommandRun(["cache", "ls", "-m", folder.file("absent.yaml")])
    #expect(absent.status == 3)
    #expect(absent.errors.contains("the manifest cannot be read"))
  }

  @Test("get prints the fields of a record, and a missing key is exit status 1")
  func get() async throws {
    try await fill()
    let json = try JSONValue(parsing: await cache("get", "Book:2", "--format", "json").output)
    #expect(json["key"] == "Book:2")
    #expect(json["type"] == "Book")
    #expect(json["fields"]?["title"]?["value"] == "Solaris")
    #expect(json["fields"]?["author"]?["value"] == ["$ref": "Author:a2"])
    #expect((json["fields"]?["id"]?["received"]?.int ?? 0) > 1_700_000_000_000)
    let text = try await cache("get", "Book:2")
    #expect(text.output.split(separator: "\n").count == 4)
    #expect(text.output.contains(#"Z  title       "Solaris""#), "\(text.output)")
    let absent = try await cache("get", "Book:99")
    #expect(absent.status == 1)
    #expect(absent.output.isEmpty)
    #expect(absent.errors.contains("there is no record Book:99"))
  }

  @Test("control characters of a key do not reach the terminal")
  func controlCharacters() async throws {
    try await fill()
    _ = try await sqlite("INSERT INTO fields VALUES ('Book:' || char(27) || '[2J' || char(10), 'a' || char(7), '1', 0);")
    let text = try await cache("ls", "Book:*J*")
    #expect(text.output.hasSuffix("1970-01-01T00:00:00Z  Book:\\u001b[2J\\n\n"), "\(text.output)")
    #expect(try lines(await cache("ls", "Book:*J*", "--format", "json")).first?["key"] == "Book:\u{1b}[2J\n")
    #expect(try await cache("get", "Book:\u{1b}[2J\n").output.contains("a\\u0007"))
  }

  @Test("stats prints the numbers of records, bytes and types, and their age")
  func statistics() async throws {
    try await fill()
    _ = try await sqlite("INSERT INTO fields VALUES ('QUERY_ROOT.a', 'x', '12', 86400000);")
    let json = try JSONValue(parsing: await cache("stats", "--format", "json").output)
    #expect(json["store"]?.string == path)
    #expect(json["schemaVersion"] == 1)
    #expect(json["records"] == 11)
    #expect(json["fields"]?.int == 5 * 4 + 4 * 3 + 1 + 1)
    #expect(json["oldest"] == 86_400_000)
    #expect((json["newest"]?.int ?? 0) > 1_700_000_000_000)
    #expect((json["fileBytes"]?.int ?? 0) >= 8_192)
    #expect(json["logBytes"]?.int != nil)
    let types = json["types"]?.array ?? []
    #expect(types.map { $0["type"]?.string } == ["Book", "Author", "Query", nil])
    #expect(types.map { $0["records"]?.int } == [5, 4, 1, 1])
    #expect(types.last?["bytes"] == 3)
    #expect(types.reduce(0) { $0 + ($1["bytes"]?.int ?? 0) } == json["bytes"]?.int)
    let text = try await cache("stats").output
    #expect(text.contains("records          11\n"))
    #expect(text.contains("received         1970-01-02T00:00:00Z to 2"))
    #expect(text.contains("        5 "))
    #expect(text.hasSuffix("        1          3  (none)\n"), "\(text)")
  }

  /// Runs `ls`. Returns the number of lines and the peak memory of the process, in KiB.
  private func peak(_ pattern: String) async throws -> (lines: Int, kibibytes: Int) {
    let script = """
      import resource, subprocess, sys
      run = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
      lines = sum(1 for _ in run.stdout)
      assert run.wait() == 0
      print(lines, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      """
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/env"), ["python3", "-c", script, Repository.command.path, "cache", "ls", "--store", path, pattern])
    let numbers = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(numbers.count == 2, "\(run.errors)")
    return (numbers[0], numbers[1])
  }

  @Test("a listing of many records is complete and uses little memory")
  func longListing() async throws {
    try await fill()
    // Their keys alone are 30 MB.
    _ = try await sqlite(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO fields SELECT printf('Long:%0300d', i), 'a', '1', i FROM n;
      """)
    let (one, all) = (try await peak("Book:1"), try await peak("Long:*"))
    #expect(one.lines == 1)
    #expect(all.lines == 100_000)
    #expect(all.kibibytes - one.kibibytes < 12 << 10, "\(one) \(all)")
    #expect(try await JSONValue(parsing: cache("stats", "--format", "json").output)["records"] == 100_010)
    #expect(try await cache("rm", "--matching", "Long:*1").output == "removed 10000 records\n")
    #expect(try await sqlite("SELECT count(*) FROM fields WHERE key LIKE 'Long:%';") == "90000\n")
  }

  // MARK: Removing

  @Test("rm removes records by key, by pattern or all, and prints their number")
  func remove() async throws {
    try await fill()
    let keys = try await cache("rm", "Book:1", "Book:1", "Book:99", "Author:a1")
    #expect(keys.status == 0)
    #expect(keys.output == "removed 2 records\n")
    #expect(try await cache("rm", "Author:a2").output == "removed 1 record\n")
    #expect(try await cache("rm", "--matching", "Book:*", "--format", "json").output == "{\"removed\":4}\n")
    #expect(
      try lines(await cache("ls", "--format", "json")).map { $0["key"]?.string } == ["Author:a3", "Author:a4", "QUERY_ROOT"])
    #expect(try await cache("rm", "--matching", "Book:*").output == "removed 0 records\n")
    #expect(try await cache("rm", "--all").output == "removed 3 records\n")
    #expect(try await cache("ls").output.isEmpty)
    #expect(try await sqlite("PRAGMA integrity_check;") == "ok\n")
  }

  // MARK: Errors

  @Test(
    "an invalid command line is exit status 2",
    arguments: [
      ["ls"], ["ls", "--store", "a", "-m", "b"], ["get", "--store", "a"], ["rm", "--store", "a"],
      ["rm", "--store", "a", "--all", "key"], ["rm", "--store", "a", "--all", "--matching", "b"], ["stats", "--format", "xml"],
      ["list", "--store", "a"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await CommandRun(["cache"] + arguments)
    #expect(run.status == 2, "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(!run.errors.isEmpty)
  }

  /// Every command that opens a store, with the arguments it needs.
  private static let commands = [["ls"], ["get", "a"], ["rm", "--all"], ["stats"]]

  @Test(
    "a file that is not a store is exit status 3, is reported, and is not changed", arguments: commands,
    [
      ("absent", "there is no store"), ("empty", "is empty"), ("garbage", "is damaged or not a database"),
      ("other", "is a database of another program"), ("newer", "has version 2 and this program supports version 1"),
      ("folder", "is a folder"),
    ])
  func badFiles(command: [String], _ file: (kind: String, message: String)) async throws {
    switch file.kind {
    case "empty": _ = try folder.write("", to: "cache.sqlite")
    case "garbage": _ = try folder.write(String(repeating: "Z", count: 5_000), to: "cache.sqlite")
    case "other": _ = try await sqlite("CREATE TABLE t (x);")
    case "newer":
      _ = try await sqlite(
        """
        CREATE TABLE fields (key TEXT, field TEXT, value TEXT, received INTEGER, more TEXT, PRIMARY KEY (key, field));
        PRAGMA application_id = \(0x4352_4253); PRAGMA user_version = 2;
        """)
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default: break
    }
    let before = FileManager.default.contents(atPath: path)
    let run = try await CommandRun(["cache", command[0], "--store", path] + command.dropFirst())
    #expect(run.status == 3, "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(file.message), "\(run.errors)")
    #expect(FileManager.default.contents(atPath: path) == before)
  }

  @Test("a damaged page is exit status 3 for what reads it")
  func damagedPage() async throws {
    try await fill()
    _ = try await sqlite("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;")
    var bytes = try Data(contentsOf: URL(filePath: path))
    for offset in 4_096..<min(bytes.count, 4_200) { bytes[offset] = 0xFF }
    try bytes.write(to: URL(filePath: path))
    for command in Self.commands {
      let run = try await CommandRun(["cache", command[0], "--store", path] + command.dropFirst())
      #expect(run.status == 3, "\(command) \(run.output) \(run.errors)")
      #expect(run.errors.contains("is damaged or not a database"), "\(run.errors)")
    }
  }

  @Test(
    "while another process writes, a store is read, and a removal gives up after a while and says why", .timeLimit(.minutes(5)))
  func locked() async throws {
    try await fill()
    let (path, holder) = (path, folder.file("holder"))
    async let held = ToolRun(
      URL(filePath: "/usr/bin/env"), ["sqlite3", path],
      input: "BEGIN IMMEDIATE;\n.shell touch \(holder)\n.shell while test -e \(holder); do sleep 0.02; done\nCOMMIT;\n")
    #expect(await eventually { FileManager.default.fileExists(atPath: holder) })
    #expect(try await cache("ls", "Book:1").status == 0)
    let refused = try await cache("rm", "--all")
    #expect(refused.status == 3)
    #expect(refused.errors.contains("is locked by another process"), "\(refused.errors)")
    try FileManager.default.removeItem(atPath: holder)
    #expect(try await held.status == 0)
    #expect(try await cache("rm", "--all").output == "removed 10 records\n")
  }

  @Test("a read-only or full file system is reported", .enabled(if: getuid() == 0))
  func readOnlyAndFull() async throws {
    try await fill()
    let small = folder.file("small")
    try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
    func mount(_ options: String) async throws -> Bool {
      try await ToolRun(URL(filePath: "/usr/bin/env"), ["mount", "-t", "tmpfs", "-o", options, "tmpfs", small]).status == 0
    }
    // A container may not be allowed to mount.
    guard try await mount("size=128k") else { return }
    let copy = small + "/cache.sqlite"
    _ = try await sqlite("PRAGMA wal_checkpoint(TRUNCATE);")
    try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: copy))
    let filler = try await ToolRun(
      URL(filePath: "/usr/bin/env"), ["bash", "-c", "head -c 200k /dev/zero > \(small)/filler; true"])
    #expect(filler.status == 0)
    let full = try await CommandRun(["cache", "rm", "--store", copy, "--all"])
    #expect(full.status == 3)
    #expect(full.errors.contains("is full"), "\(full.errors)")
    try FileManager.default.removeItem(atPath: small + "/filler")
    #expect(try await CommandRun(["cache", "rm", "--store", copy, "Book:1"]).output == "removed 1 record\n")
    if try await mount("remount,ro") {
      for command in Self.commands where command[0] == "rm" {
        let refused = try await CommandRun(["cache", command[0], "--store", copy] + command.dropFirst())
        #expect(refused.status == 3)
        #expect(refused.errors.contains("cannot be"), "\(refused.errors)")
      }
    }
    _ = try await ToolRun(URL(filePath: "/usr/bin/env"), ["umount", small])
  }
}
