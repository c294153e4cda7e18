import CarabinerWire
import CommandTools
import Foundation
import TestTools
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
  func fivePlugins() async throws {
    let server = try await StrawberryServer(["--require-auth"])
    let manifest = try manifest(server)
    let run = try await CommandRun(
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
  func tokenExpires() async throws {
    let server = try await StrawberryServer(["--require-auth", "--token-uses", "20"])
    let manifest = try manifest(server)
    let run = try await CommandRun(
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
  func tokenRefused() async throws {
    let server = try await StrawberryServer(["--require-auth"])
    let manifest = try manifest(server, secret: "wrong")
    let run = try await CommandRun(
      ["run", "-m", manifest.path, "--endpoint", server.endpoint, "-"], input: "{ books { id } }",
      environment: ["TEST_HMAC_KEY": "key"])
    #expect(run.status == 7)
    #expect(run.errors.contains("check client-id and client-secret"))
    #expect(!run.errors.contains("wrong"))
  }

  @Test("GraphQL errors are exit status 1, and the result is printed")
  func graphQLErrors() async throws {
    let server = try await StrawberryServer()
    let run = try await CommandRun(["run", "--endpoint", server.endpoint, "--output", "json", "-"], input: "{ failing }")
    #expect(run.status == 1)
    #expect(run.output.contains("BROKEN"))
  }

  @Test("variables come from the command line or a file")
  func variables() async throws {
    let server = try await StrawberryServer()
    let document = "query B($id: ID!) { book(id: $id) { title } }"
    let file = try TemporaryFile(#"{"id": "2"}"#, suffix: ".json")
    for (argument, title) in [(#"{"id":"1"}"#, "The Left Hand of Darkness"), ("@\(file.path)", "Solaris")] {
      let run = try await CommandRun(
        ["run", "--endpoint", server.endpoint, "--output", "json", "--variables", argument, "-"], input: document)
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains(title))
    }
  }

  @Test("a timeout and a refused connection are exit status 4")
  func network() async throws {
    let server = try await StrawberryServer()
    let slow = try await CommandRun(
      ["run", "--endpoint", server.endpoint, "--timeout", "0.3", "-"], input: "{ slow(seconds: 20) }")
    #expect(slow.status == 4)
    // On a busy machine, libcurl's own timeout sometimes fires first.
    #expect(slow.errors.contains("[timedOut"), "\(slow.errors)")
    let refused = try await CommandRun(["run", "--endpoint", "http://127.0.0.1:1/graphql", "-"], input: "{ books { id } }")
    #expect(refused.status == 4)
    #expect(refused.errors.contains("is the server running?"))
  }

  @Test("an HTTP status is exit status 5")
  func httpStatus() async throws {
    let server = try await StrawberryServer(["--require-auth"])
    let run = try await CommandRun(["run", "--endpoint", server.endpoint, "-"], input: "{ books { id } }")
    #expect(run.status == 5)
    #expect(run.errors.contains("401"))
  }

  @Test("a body that is not a GraphQL response is exit status 6")
  func parsing() async throws {
    let server = try await StrawberryServer()
    let run = try await CommandRun(
      [
        "run", "--endpoint", "http://127.0.0.1:\(server.port)/token", "--header",
        "Content-Type: application/x-www-form-urlencoded", "-",
      ],
      input: "{ books { id } }")
    // FastAPI responds with status 422 to an unknown form, so this is a status error.
    #expect(run.status == 5)
    let document = try await CommandRun(["run", "--endpoint", "http://127.0.0.1:\(server.port)/docs", "-"], input: "{ a }")
    #expect(document.status == 5)
  }

  @Test(
    "an invalid command line is exit status 2",
    arguments: [
      ["run", "-"], ["run", "--endpoint", "ftp://x/", "-"], ["run", "--endpoint", "http://127.0.0.1:1", "--variables", "[", "-"],
      ["run", "--endpoint", "http://127.0.0.1:1", "--header", "nonsense", "-"], ["run", "--no-such-option"], ["nonsense"],
      ["run", "--endpoint", "http://127.0.0.1:1", "--operation-name", "Other", "-"],
      ["run", "--endpoint", "http://127.0.0.1:1", "/no/such/file.graphql"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await CommandRun(arguments, input: "query A { a }")
    #expect(run.status == 2, "\(run.errors)")
    #expect(!run.errors.isEmpty)
    #expect(run.output.isEmpty)
  }
}
