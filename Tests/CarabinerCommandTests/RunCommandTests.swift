import CarabinerWire
import Foundation
import Testing

/// The command against a real GraphQL server, through plugins in C, C++, Rust and Swift.
@Suite("carabiner run")
struct RunCommandTests {
  private static let plugins = CommandRun.root.appending(path: "Plugins").path

  private func manifest(_ server: StrawberryServer, secret: String = "s3cret") throws -> TemporaryFile {
    try TemporaryFile(
      """
      carabiner: 1
      plugins:
        - {name: request-log, file: \(Self.plugins)/request-log/build/request-log.so}
        - name: token-auth
          file: \(Self.plugins)/token-auth/build/token-auth.so
          grants: [fetch]
          config: {token-url: "http://127.0.0.1:\(server.port)/token", client-id: test, client-secret: \(secret)}
        - {name: ttl-cache, file: \(Self.plugins)/ttl-cache/build/ttl-cache.so, config: {ttl-seconds: 60}}
        - {name: hmac-sign, file: \(Self.plugins)/hmac-sign/build/hmac-sign.so, config: {key: "${env:TEST_HMAC_KEY}"}}
        - {name: cbor-parser, file: \(Self.plugins)/cbor-parser/build/cbor-parser.so}
      chain:
        graphql: [max-retry, request-log, token-auth]
        cache: [ttl-cache]
        http: [hmac-sign, response-code]
        parsing: [cbor-parser, json]
      """)
  }

  @Test("a query passes all five plugins, and the trace shows each on its way down and up")
  func fivePlugins() throws {
    let server = try StrawberryServer(["--require-auth"])
    let manifest = try manifest(server)
    let run = try CommandRun(
      ["run", "-m", manifest.path, "--endpoint", server.endpoint, "--output", "json", "--trace", "-"],
      input: #"query Q { books { title } echoHeader(name: "x-signature") secret }"#,
      environment: ["TEST_HMAC_KEY": "key", "CARABINER_LOG": "info"])
    #expect(run.status == 0, "\(run.errors)")
    let result = try JSONValue(parsing: run.output.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(result["data"]?["books"]?.array?.count == 3)
    #expect(result["data"]?["echoHeader"]?.string?.hasPrefix("v1=") == true)
    #expect(result["data"]?["secret"]?.string == "the cake is real")
    for name in ["request-log", "token-auth", "ttl-cache", "hmac-sign", "cbor-parser"] { #expect(run.errors.contains(name)) }
    #expect(run.errors.contains("query Q attempt 0: done, 1 results"))
  }

  @Test("a token the server no longer takes is renewed once for all who wait, and the requests go on")
  func tokenExpires() throws {
    let server = try StrawberryServer(["--require-auth", "--token-uses", "20"])
    let manifest = try manifest(server)
    let run = try CommandRun(
      [
        "run", "-m", manifest.path, "--endpoint", server.endpoint, "--output", "json", "--cache-policy", "networkOnly",
        "--repeat", "60", "--concurrency", "4", "-",
      ], input: "{ books { id } }", environment: ["TEST_HMAC_KEY": "key"])
    #expect(run.status == 0, "\(run.errors)")
    let summary = try JSONValue(parsing: run.output.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(summary["requests"]?.int == 60)
    #expect(summary["failed"]?.int == 0)
  }

  @Test("a token server that refuses fails the call with what to do")
  func tokenRefused() throws {
    let server = try StrawberryServer(["--require-auth"])
    let manifest = try manifest(server, secret: "wrong")
    let run = try CommandRun(
      ["run", "-m", manifest.path, "--endpoint", server.endpoint, "-"], input: "{ books { id } }",
      environment: ["TEST_HMAC_KEY": "key"])
    #expect(run.status == 7)
    #expect(run.errors.contains("check client-id and client-secret"))
    #expect(!run.errors.contains("wrong"))
  }

  @Test("GraphQL errors are exit status 1, and the result is printed")
  func graphQLErrors() throws {
    let server = try StrawberryServer()
    let run = try CommandRun(["run", "--endpoint", server.endpoint, "--output", "json", "-"], input: "{ failing }")
    #expect(run.status == 1)
    #expect(run.output.contains("BROKEN"))
  }

  @Test("variables come from the command line or a file")
  func variables() throws {
    let server = try StrawberryServer()
    let document = "query B($id: ID!) { book(id: $id) { title } }"
    let file = try TemporaryFile(#"{"id": "2"}"#, suffix: ".json")
    for (argument, title) in [(#"{"id":"1"}"#, "The Left Hand of Darkness"), ("@\(file.path)", "Solaris")] {
      let run = try CommandRun(
        ["run", "--endpoint", server.endpoint, "--output", "json", "--variables", argument, "-"], input: document)
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains(title))
    }
  }

  @Test("a timeout and a refused connection are exit status 4")
  func network() throws {
    let server = try StrawberryServer()
    let slow = try CommandRun(
      ["run", "--endpoint", server.endpoint, "--timeout", "0.3", "-"], input: "{ slow(seconds: 20) }")
    #expect(slow.status == 4)
    #expect(slow.errors.contains("longer than 0.3 s"))
    let refused = try CommandRun(["run", "--endpoint", "http://127.0.0.1:1/graphql", "-"], input: "{ books { id } }")
    #expect(refused.status == 4)
    #expect(refused.errors.contains("is the server running?"))
  }

  @Test("an HTTP status is exit status 5")
  func httpStatus() throws {
    let server = try StrawberryServer(["--require-auth"])
    let run = try CommandRun(["run", "--endpoint", server.endpoint, "-"], input: "{ books { id } }")
    #expect(run.status == 5)
    #expect(run.errors.contains("401"))
  }

  @Test("a response that is no GraphQL response is exit status 6")
  func parsing() throws {
    let server = try StrawberryServer()
    let run = try CommandRun(
      [
        "run", "--endpoint", "http://127.0.0.1:\(server.port)/token", "--header",
        "Content-Type: application/x-www-form-urlencoded", "-",
      ],
      input: "{ books { id } }")
    // FastAPI answers 422 to a form it does not know: a status, then.
    #expect(run.status == 5)
    let document = try CommandRun(["run", "--endpoint", "http://127.0.0.1:\(server.port)/docs", "-"], input: "{ a }")
    #expect(document.status == 5)
  }

  @Test(
    "what is wrong on the command line is exit status 2",
    arguments: [
      ["run", "-"], ["run", "--endpoint", "ftp://x/", "-"], ["run", "--endpoint", "http://127.0.0.1:1", "--variables", "[", "-"],
      ["run", "--endpoint", "http://127.0.0.1:1", "--header", "nonsense", "-"], ["run", "--no-such-option"], ["nonsense"],
      ["run", "--endpoint", "http://127.0.0.1:1", "--operation-name", "Other", "-"],
      ["run", "--endpoint", "http://127.0.0.1:1", "/no/such/file.graphql"],
    ])
  func usage(arguments: [String]) throws {
    let run = try CommandRun(arguments, input: "query A { a }")
    #expect(run.status == 2, "\(run.errors)")
    #expect(!run.errors.isEmpty)
    #expect(run.output.isEmpty)
  }
}

@Suite("carabiner check, chain and inspect")
struct InspectCommandTests {
  private static let plugins = CommandRun.root.appending(path: "Plugins").path

  @Test("check accepts a good manifest and refuses a bad one with every problem, for people and machines")
  func check() throws {
    let good = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: n, file: \(Self.plugins)/noop/build/noop.so}], chain: {graphql: [n]}}")
    #expect(try CommandRun(["check", "-m", good.path]).status == 0)
    let bad = try TemporaryFile("{carabiner: 1, endpoitn: x, settings: {timeout: soon}}")
    let run = try CommandRun(["check", "-m", bad.path, "--format", "json"])
    #expect(run.status == 3)
    let report = try JSONValue(parsing: run.output)
    #expect(report["ok"]?.bool == false)
    #expect(report["problems"]?.array?.count == 2)
  }

  @Test("check survives a plugin whose entry crashes", arguments: [("ENTRY_CRASHES", "signal")])
  func crashing(definition: String, message: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = folder.appending(path: "bad.so").path
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/cc")
    compiler.arguments = [
      "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-I\(CommandRun.root.path)/Sources/CCarabiner/include",
      "-D\(definition)", "-o", library, "\(CommandRun.root.path)/Tests/Fixtures/Plugins/loading.c",
    ]
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
    let manifest = try TemporaryFile("{carabiner: 1, plugins: [{name: bad, file: \(library)}], chain: {graphql: [bad]}}")
    let run = try CommandRun(
      ["check", "-m", manifest.path], environment: ["SWIFT_BACKTRACE": "enable=no"])
    #expect(run.status == 3)
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test("chain draws the order down and the same order up, reversed")
  func chain() throws {
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      plugins:
        - {name: a, file: \(Self.plugins)/noop/build/noop.so}
        - {name: b, file: \(Self.plugins)/noop/build/noop.so}
      chain: {graphql: [a, max-retry, b]}
      """)
    let run = try CommandRun(["chain", "-m", manifest.path, "--format", "json"], environment: ["CARABINER_DISABLE": "b*"])
    #expect(run.status == 0)
    let report = try JSONValue(parsing: run.output)
    let down = report["down"]?.array?.compactMap(\.string) ?? []
    let up = report["up"]?.array?.compactMap(\.string) ?? []
    #expect(down == ["a", "max-retry", "store", "toURLRequest", "response-code", "transport (libcurl)"])
    #expect(up == ["response-code", "json", "max-retry", "a", "store"])
    #expect(report["stages"]?["graphql"]?[2]?["disabledBy"]?.string == "b*")
  }

  @Test(
    "inspect reads the note, and with --load the table",
    arguments: ["noop", "recorder", "ttl-cache", "cbor-parser", "token-auth"])
  func inspect(plugin: String) throws {
    let path = "\(Self.plugins)/\(plugin)/build/\(plugin).so"
    let run = try CommandRun(["inspect", "--load", "--format", "json", path])
    #expect(run.status == 0, "\(run.errors)")
    let report = try JSONValue(parsing: run.output)
    #expect(report["id"]?.string == "org.carabiner.\(plugin)")
    #expect(report["interceptors"]?[0]?["id"] == report["id"])
    #expect(report["sha256"]?.string?.count == 64)
  }
}
