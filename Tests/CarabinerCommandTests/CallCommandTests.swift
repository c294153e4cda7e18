import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The command against a real Connect server.
@Suite("carabiner call")
struct CallCommandTests {
  private static let plugins = CommandRun.root.appending(path: "Plugins").path

  private func call(_ server: ConnectServer, _ arguments: [String], input: String = "") async throws -> CommandRun {
    try await CommandRun(["call", "--endpoint", server.host] + arguments, input: input)
  }

  @Test(
    "the answer of the server is one line, and its error has exit status 1", .rule("connect.62"),
    arguments: ["connect", "grpc-web"])
  func unary(network: String) async throws {
    let server = try await ConnectServer()
    let answer = try await call(server, ["--protocol", network, "-v", "peer.v1.Peer/Echo", #" "hi" "#])
    #expect(answer.status == 0, "\(answer.errors)")
    #expect(answer.output == "\"hi\"\n")
    #expect(answer.errors.contains("header x-method: POST\n"))
    #expect(answer.errors.contains("header x-list: 1\nheader x-list: 2\nheader x-list: 3\n"))
    #expect(answer.errors.contains("trailer x-end: 4\n"))
    let failure = try await call(server, ["--protocol", network, "peer.v1.Peer/Fail", #""not_found""#])
    #expect(failure.status == 1)
    #expect(failure.output.isEmpty)
    let error = try JSONValue(parsing: failure.errors.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(error["code"] == "not_found")
    #expect(error["message"] == "asked for not_found")
    #expect(error["details"]?[0]?["type"]?.string?.hasSuffix("google.protobuf.StringValue") == true)
    #expect(error["details"]?[0]?["value"] == "CghhIGRldGFpbA")
  }

  @Test("a call by GET, with a header, and a message of several lines from standard input", .rule("connect.62"))
  func get() async throws {
    let server = try await ConnectServer()
    let answer = try await call(server, ["--get", "-v", "peer.v1.Peer/Echo", "-"], input: "\n  \"hi\"\n\n")
    #expect(answer.status == 0, "\(answer.errors)")
    #expect(answer.output == "\"hi\"\n")
    #expect(answer.errors.contains("header x-method: GET\n"))
    let headers = try await call(server, ["--header", "X-Team: a", "--timeout", "5", "peer.v1.Peer/Headers", #""""#])
    #expect(headers.output.split(separator: "\n").count == 1)
    let fields = try JSONValue(parsing: headers.output.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(fields["x-team"] == "a")
    #expect(fields["connect-timeout-ms"] == "5000")
    #expect(fields["connect-protocol-version"] == "1")
  }

  @Test("the messages of a stream are lines, also before its error", .rule("connect.62"))
  func streams() async throws {
    let server = try await ConnectServer()
    let count = try await call(server, ["--stream", "-v", "peer.v1.Peer/Count", "3"])
    #expect(count.status == 0, "\(count.errors)")
    #expect(count.output == "1\n2\n3\n")
    #expect(count.errors.contains("header x-head: 1\n") && count.errors.contains("trailer x-end: 2\n"))
    let failing = try await call(server, ["--stream", "peer.v1.Peer/Count", "-"], input: "-2")
    #expect(failing.status == 1)
    #expect(failing.output == "1\n2\n")
    #expect(failing.errors.contains(#""code":"aborted""#))
    let total = try await call(server, ["--client-stream", "peer.v1.Peer/Total", "-"], input: "1\n2\n3\n")
    #expect(total.status == 0, "\(total.errors)")
    #expect(total.output == "6\n")
    let double = try await call(server, ["--client-stream", "--stream", "peer.v1.Peer/Double", "-"], input: "1\n2\n3\n")
    #expect(double.status == 0, "\(double.errors)")
    #expect(double.output == "2\n4\n6\n")
  }

  @Test("each kind of failure has its exit status", .rule("connect.62"))
  func failures() async throws {
    let server = try await ConnectServer()
    for (arguments, status) in [
      (["--timeout", "0.05", "peer.v1.Peer/Slow", "20000"], 4), (["peer.v1.Peer/Nothing"], 5),
      (["--stream", "peer.v1.Peer/Echo", "\"a\""], 5),
      (["nothing"], 2), (["../.."], 2), (["a/b/c"], 2), (["a.B/C", "{"], 2), (["--get", "--stream", "a.B/C"], 2),
      (["--header", "a b: c", "a.B/C"], 2), (["--timeout", "0", "a.B/C"], 2),
    ] as [([String], Int32)] {
      let run = try await call(server, arguments)
      #expect(run.status == status, "\(arguments): \(run.errors)")
      #expect(run.output.isEmpty && !run.errors.isEmpty)
    }
    let port = server.port
    server.end()
    let gone = try await CommandRun(["call", "--endpoint", "http://127.0.0.1:\(port)", "a.B/C"])
    #expect(gone.status == 4, "\(gone.errors)")
    #expect(gone.errors.contains(#""code":"unavailable""#))
  }

  @Test("a plugin in C and a function of a library run for the methods that a rule names", .rule("connect.58", "connect.61"))
  func plugins() async throws {
    let server = try await ConnectServer()
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      protocol: connect
      endpoint: \(server.host)
      connect: {get: always, timeout: 20s}
      plugins:
        - {name: hmac-sign, file: \(Self.plugins)/hmac-sign/build/hmac-sign.so, config: {key: secret}}
        - name: crc
          ffi:
            library: libz.so.1
            function: crc32
            returns: u64
            header: X-CRC
            arguments: [{type: u64, value: 0}, {type: pointer, from: body}, {type: u32, from: body-length}]
      rules: [{when: {operation: "peer.v1.Peer/Head*"}, chain: {http: [hmac-sign, crc]}}]
      """)
    let signed = try await CommandRun(["call", "-m", manifest.path, "--trace", "peer.v1.Peer/Headers", #""a""#])
    #expect(signed.status == 0, "\(signed.errors)")
    let fields = try JSONValue(parsing: signed.output.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(fields["x-signature"]?.string?.hasPrefix("v1=") == true)
    #expect(fields["connect-timeout-ms"] == "20000")
    #expect(signed.errors.contains("hmac-sign"))
    let plain = try await CommandRun(
      ["call", "-m", manifest.path, "--trace", "--no-side-effects", "-v", "peer.v1.Peer/Echo", #""a""#])
    #expect(plain.status == 0, "\(plain.errors)")
    #expect(!plain.errors.contains("hmac-sign"))
    #expect(plain.errors.contains("header x-method: GET\n"))
    let chain = try await CommandRun(["chain", "-m", manifest.path, "--operation", "peer.v1.Peer/Headers"])
    #expect(
      chain.output.split(separator: "\n").map { $0.split(separator: " ").last } == [
        "connect", "hmac-sign", "crc", "(libcurl)", "crc", "hmac-sign", "connect",
      ])
    let check = try await CommandRun(["check", "-m", manifest.path])
    #expect(check.status == 0, "\(check.errors)")
  }

  /// A manifest with token-auth and a token that the server rejects.
  ///
  /// - Parameter plugins: More entries of the list of plugins.
  private static func authenticating(_ server: ConnectServer, chain: String, plugins: String = "") throws -> TemporaryFile {
    try TemporaryFile(
      """
      carabiner: 1
      protocol: connect
      endpoint: \(server.host)
      chain: {http: \(chain)}
      plugins:
      - name: token-auth
        file: \(Self.plugins)/token-auth/build/token-auth.so
        grants: [fetch]
        config: {token-url: "\(server.host)/token", client-id: test, token: rejected}
      \(plugins)
      """)
  }

  @Test("token-auth renews its token after a 401, for calls and for streams", .rule("connect.64"))
  func tokenAuth() async throws {
    let server = try await ConnectServer(["--require-auth"])
    let manifest = try Self.authenticating(server, chain: "[token-auth]")
    let answer = try await CommandRun(["call", "-m", manifest.path, "peer.v1.Peer/Say", #""hi""#])
    #expect(answer.status == 0 && answer.output == "\"hi\"\n", "\(answer.errors)")
    let count = try await CommandRun(["call", "-m", manifest.path, "--stream", "peer.v1.Peer/Count", "2"])
    #expect(count.status == 0 && count.output == "1\n2\n", "\(count.errors)")
    let issued = try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-sS", "\(server.host)/tokens-issued"]).output
    #expect(issued == "2")
    let refused = try await CommandRun(["call", "--endpoint", server.host, "peer.v1.Peer/Say", #""hi""#])
    #expect(refused.status == 1 && refused.errors.contains("unauthenticated"), "\(refused.errors)")
  }

  @Test(
    "token-auth and body-crc work in one chain: the token is renewed, and each attempt has the sum of its body",
    .rule("connect.64"))
  func tokenAndChecksum() async throws {
    let server = try await ConnectServer(["--require-auth"])
    let manifest = try Self.authenticating(
      server, chain: "[token-auth, body-crc]",
      plugins: """
        - name: body-crc
          ffi: {library: libz.so.1, function: crc32, returns: u64, header: X-Body-CRC32, format: hex,
                arguments: [{type: u64, value: 0}, {type: pointer, from: body}, {type: u32, from: body-length}]}
        """)
    let answer = try await CommandRun(["call", "-m", manifest.path, "peer.v1.Peer/Headers", #""hi""#])
    #expect(answer.status == 0, "\(answer.errors)")
    let fields = try JSONValue(parsing: answer.output.trimmingCharacters(in: .whitespacesAndNewlines))
    let sum = try #require(fields["x-body-crc32"]?.string)
    // The CRC-32 of "hi" with its quotation marks.
    #expect(UInt32(sum, radix: 16) == 0x0CE4_B33B, "\(sum)")
    #expect(fields["authorization"]?.string?.hasPrefix("Bearer ") == true && fields["authorization"] != "Bearer rejected")
    let issued = try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-sS", "\(server.host)/tokens-issued"]).output
    #expect(issued == "1")
  }

  @Test("a plugin in C counts the chunks of a stream", .rule("connect.58", "connect.64"))
  func chunks() async throws {
    let (server, folder) = (try await ConnectServer(), try FixturePlugin.Folder())
    let source = Repository.root.appending(path: "Tests/Examples/ConnectCalls/Plugin/chunk_count.c").path
    let plugin = try await FixturePlugin.compile(at: source, into: folder)
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      protocol: connect
      endpoint: \(server.host)
      plugins: [{name: chunk-count, file: \(plugin)}]
      chain: {http: [chunk-count]}
      """)
    let count = try await CommandRun(
      ["call", "-m", manifest.path, "--stream", "peer.v1.Peer/Count", "50"], environment: ["CARABINER_LOG": "info"])
    #expect(count.status == 0 && count.output.split(separator: "\n").count == 50, "\(count.errors)")
    let log = try #require(count.errors.firstMatch(of: /(\d+) chunks with (\d+) bytes/), "\(count.errors)")
    // 50 messages and the end, each with a prefix of five bytes.
    #expect(try #require(Int(log.1)) > 0)
    #expect(try #require(Int(log.2)) >= 50 * 6 + 7)
  }

  @Test("a manifest of the wrong protocol is refused, with the place", .rule("connect.60", "connect.63"))
  func wrongProtocol() async throws {
    let connect = try TemporaryFile("carabiner: 1\nendpoint: http://127.0.0.1:9\nprotocol: connect\n")
    let graphQL = try TemporaryFile("carabiner: 1\nendpoint: http://127.0.0.1:9\n")
    let record = try TemporaryFile("", suffix: ".jsonl")
    for (arguments, remedy) in [
      (["run", "-m", connect.path, "-"], "use carabiner call"),
      (["serve", "-m", connect.path, "--listen", "127.0.0.1:0"], "carabiner call"),
      (["replay", record.path, "-m", connect.path], "no replay"), (["call", "-m", graphQL.path, "a.B/C"], "use carabiner run"),
    ] {
      let run = try await CommandRun(arguments, input: "{ a }")
      #expect(run.status == 3, "\(arguments): \(run.errors)")
      #expect(run.errors.contains("/protocol") && run.errors.contains(remedy), "\(run.errors)")
      #expect(run.output.isEmpty)
    }
    let stages = try TemporaryFile("carabiner: 1\nprotocol: connect\nchain:\n  graphql: [max-retry]\n")
    let check = try await CommandRun(["check", "-m", stages.path])
    #expect(check.status == 3)
    #expect(check.errors.contains("\(stages.path):4:") && check.errors.contains("protocol: connect has no GraphQL stages"))
  }
}
