import CarabinerWire
import CommandTools
import Foundation
import Synchronization
import TestTools
import Testing

/// The requests that `carabiner run` sends, with servers that respond.
@Suite("carabiner run: GET, persisted queries, uploads")
struct RunWireTests {
  private static let query = "query Q { books { title } }"

  private func result(_ run: CommandRun) throws -> JSONValue {
    try JSONValue(parsing: run.output.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  // MARK: GET and persisted queries

  @Test("--get sends GET to a real server, also with characters that are special in URLs", .rule("request.2"))
  func get() async throws {
    let server = try await StrawberryServer()
    let text = "a+b;c&d#e=f%20 ü"
    for (options, method) in [(["--get"], "GET"), ([], "POST")] {
      let run = try await CommandRun(
        ["run", "--endpoint", server.endpoint + "?tenant=1", "--output", "json"] + options + [
          "--variables", JSONValue.object(["t": .string(text)]).description, "-",
        ], input: "query Q($t: String!) { echo(text: $t) }")
      #expect(run.status == 0, "\(run.errors)")
      #expect(try result(run)["data"]?["echo"]?.string == "\(method) \(text)")
    }
  }

  @Test(
    "--apq sends the hash, then the document once, and then only the hash", .rule("request.4"),
    arguments: [[], ["--get"]])
  func persistedQueries(options: [String]) async throws {
    let server = try DemoServerProcess()
    for _ in 0..<2 {
      let run = try await CommandRun(
        ["run", "--endpoint", server.endpoint, "--output", "json", "--apq"] + options + ["-"], input: Self.query)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try result(run)["data"]?["books"]?.array?.isEmpty == false)
    }
    // Two requests for the first run, one for the second.
    #expect(try requests(server) == 3)
  }

  @Test("a real server's persisted queries are used: hash, document, and then the hash alone", .rule("request.4"))
  func realPersistedQueries() async throws {
    let server = try await StrawberryServer()
    let origin = "http://127.0.0.1:\(server.port)"
    for _ in 0..<2 {
      let run = try await CommandRun(
        ["run", "--endpoint", "\(origin)/persisted", "--output", "json", "--apq", "-"], input: Self.query)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try result(run)["data"]?["books"]?.array?.count == 3)
    }
    #expect(try JSONValue(parsing: RawAnswer("\(origin)/persisted-requests").text) == ["POST", "POST", "POST"])
  }

  @Test("hashes by GET and documents by POST, as the manifest says", .rule("request.4"))
  func manifest() async throws {
    let server = try DemoServerProcess()
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      endpoint: \(server.endpoint)
      built-ins: {persisted-queries: {enabled: true, get-for-hashes: true}}
      """)
    let run = try await CommandRun(["run", "-m", manifest.path, "--output", "json", "--trace", "-"], input: Self.query)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try requests(server) == 2)
  }

  @Test("a server that refuses hashes gets documents from then on", .rule("request.4"))
  func refused() async throws {
    let server = try DemoServerProcess(["--no-persisted-queries"])
    let run = try await CommandRun(
      [
        "run", "--endpoint", server.endpoint, "--output", "json", "--apq", "--repeat", "5", "--cache-policy", "networkOnly", "-",
      ], input: Self.query)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try result(run)["failed"]?.int == 0)
    // One request with the hash only, and five with the document.
    #expect(try requests(server) == 6)
  }

  @Test("--apq without the stage that does it is a mistake on the command line", .rule("request.4"))
  func noStage() async throws {
    let manifest = try TemporaryFile("{carabiner: 1, chain: {graphql: [max-retry]}}")
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "--endpoint", "http://127.0.0.1:1/graphql", "--apq", "-"], input: Self.query)
    #expect(run.status == 2)
    #expect(run.errors.contains("persisted-queries"))
  }

  /// The number of GraphQL requests that a demo server has received.
  private func requests(_ server: DemoServerProcess) throws -> Int? {
    let answer = try RawAnswer("http://127.0.0.1:\(server.port)/counters").text
    return try JSONValue(parsing: answer)["graphqlRequests"]?.int
  }

  // MARK: Uploads

  private static let uploadAll = """
    mutation Save($files: [Upload!]!, $folder: Folder) {
      uploadAll(files: $files, folder: $folder) { variable name mediaType size sha256 }
    }
    """

  @Test("files in a list and in an input object arrive at a real server byte for byte", .rule("request.5"))
  func upload() async throws {
    let server = try await StrawberryServer()
    let folder = try TemporaryFolder()
    let one = try folder.file("one.txt", Data("hello".utf8))
    let two = try folder.file("zwei ü\".bin", Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
    let run = try await CommandRun(
      [
        "run", "--endpoint", server.endpoint, "--output", "json", "--variables", #"{"folder":{"name":"holiday"}}"#, "--file",
        "files.0=\(one)", "--file", "files.1=\(two)", "--file", "folder.cover=\(one)", "-",
      ], input: Self.uploadAll)
    #expect(run.status == 0, "\(run.errors)\(run.output)")
    let received = try #require(try result(run)["data"]?["uploadAll"]?.array)
    #expect(received.map { $0["variable"]?.string } == ["files.0", "files.1", "folder holiday"])
    #expect(received.map { $0["size"]?.double } == [5, 300_000, 5])
    #expect(received[0]["name"]?.string == "one.txt")
    #expect(received[0]["mediaType"]?.string == "application/octet-stream")
    #expect(received[0]["sha256"]?.string == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    #expect(received[2]["sha256"] == received[0]["sha256"])
  }

  @Test(
    "a file that cannot be uploaded is an error of the command line", .rule("request.5"),
    arguments: ["nonsense", "=x", "a=", "file=/no/such/file", "file=/"])
  func mistakes(file: String) async throws {
    let run = try await CommandRun(
      ["run", "--endpoint", "http://127.0.0.1:1/graphql", "--file", file, "-"],
      input: "mutation M($file: Upload!) { upload(file: $file) { size } }")
    #expect(run.status == 2, "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test("a plugin that needs the body of an upload refuses it, with a hint", .rule("request.5"))
  func signing() async throws {
    let server = try await StrawberryServer()
    let folder = try TemporaryFolder()
    let file = try folder.file("one.txt", Data("hello".utf8))
    let plugins = CommandRun.root.appending(path: "Plugins").path
    for (plugin, message) in [
      ("{name: p, file: \(plugins)/hmac-sign/build/hmac-sign.so, config: {key: k}}", "an upload is read while it is sent"),
      (
        "{name: p, ffi: {library: libz.so.1, function: crc32, returns: u64, header: X-C, arguments: [{type: u64, value: 0}, {type: pointer, from: body}, {type: u32, from: body-length}]}}",
        "cannot be given to crc32"
      ),
    ] {
      let manifest = try TemporaryFile("carabiner: 1\nplugins:\n  - \(plugin)\nchain: {http: [p]}\n")
      let run = try await CommandRun(
        ["run", "-m", manifest.path, "--endpoint", server.endpoint, "--file", "file=\(file)", "-"],
        input: "mutation M($file: Upload!) { upload(file: $file) { size } }")
      #expect(run.status == 7, "\(run.errors)")
      #expect(run.errors.contains(message), "\(run.errors)")
    }
  }

  @Test("200 MB from disk take no more memory than 1 MB", .rule("request.5"))
  func memory() async throws {
    let server = try await StrawberryServer()
    let folder = try TemporaryFolder()
    var peaks: [Int] = []
    for length in [1_000_000, 200_000_000] {
      let file = try folder.sparse("\(length)", length: length)
      let memory = PeakMemory()
      let run = try await CommandRun(
        ["run", "--endpoint", server.endpoint, "--output", "json", "--file", "file=\(file)", "-"],
        input: "mutation M($file: Upload!) { upload(file: $file) { size } }", meanwhile: memory.watch)
      #expect(run.status == 0, "\(run.errors)\(run.output)")
      #expect(try result(run)["data"]?["upload"]?["size"]?.double == Double(length))
      peaks.append(memory.kilobytes)
    }
    #expect(peaks[0] > 0)
    #expect(peaks[1] - peaks[0] < 16_000, "\(peaks) kB")
  }
}

/// The peak resident memory of a process.
private final class PeakMemory: Sendable {
  private let peak = Mutex(0)

  var kilobytes: Int { peak.withLock { $0 } }

  /// Samples a process until it ends.
  func watch(_ process: Int32) {
    while let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let found = status.firstMatch(of: /VmHWM:\s+(\d+) kB/), let kilobytes = Int(found.1)
    {
      peak.withLock { $0 = max($0, kilobytes) }
      usleep(2000)
    }
  }
}

/// A folder that is removed with this value.
private final class TemporaryFolder: Sendable {
  private let path = FileManager.default.temporaryDirectory.appending(path: "carabiner-files-\(UUID().uuidString)").path

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file with these bytes into the folder. Returns its path.
  func file(_ name: String, _ bytes: Data) throws -> String {
    try bytes.write(to: URL(filePath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }

  /// Writes a sparse file, which uses no disk space. Returns its path.
  func sparse(_ name: String, length: Int) throws -> String {
    let path = try file(name, Data())
    guard unsafe truncate(path, length) == 0 else { throw CocoaError(.fileWriteUnknown) }
    return path
  }
}
