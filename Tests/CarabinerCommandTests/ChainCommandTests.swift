import CarabinerWire
import CommandTools
import Foundation
import Testing

/// One run of `carabiner chain` and the golden file of its output.
struct ChainCase: Sendable, CustomTestStringConvertible {
  let name: String
  let arguments: [String]
  var disable: String?

  var testDescription: String { name }

  static let all: [ChainCase] = [
    ChainCase(name: "plain", arguments: ["--type", "mutation"]),
    ChainCase(name: "rule", arguments: ["--operation", "GetBooks", "--type", "query"]),
    ChainCase(name: "second-rule", arguments: ["--operation", "Watch", "--type", "subscription"]),
    ChainCase(name: "disabled", arguments: ["--operation", "AddBook", "--type", "mutation"], disable: "sign,cache-*"),
    ChainCase(name: "safe-mode", arguments: ["--operation", "GetBooks"], disable: "~all~"),
  ]
}

@Suite("carabiner chain")
struct ChainCommandTests {
  private static let noop = CommandRun.root.appending(path: "Plugins/noop/build/noop.so").path

  private let manifest: TemporaryFile

  init() throws {
    manifest = try TemporaryFile(
      """
      carabiner: 1
      headers: {Authorization: "Bearer ${env:CARABINER_SURELY_UNSET}"}
      plugins:
        - {name: log, file: \(Self.noop), config: {key: "${file:/no/such/secret}"}}
        - {name: sign, file: \(Self.noop)}
        - {name: cache-memory, file: \(Self.noop)}
        - {name: cbor, file: \(Self.noop)}
        - name: crc
          ffi: {library: libz.so.1, function: crc32, returns: u64, header: X-CRC}
      chain:
        graphql: [log, max-retry, {use: persisted-queries, after: log}]
        cache: [cache-memory, store]
        http: [sign, crc, response-code]
        parsing: [cbor, json]
      rules:
        - when: {operation: "Get*", type: query}
          chain: {graphql: [max-retry, log], parsing: [cbor]}
        - when: {type: [subscription, query]}
          chain: {cache: [], graphql: [log]}
      built-ins: {persisted-queries: {enabled: true}}
      """)
  }

  @Test("each format prints what is in the golden file", arguments: ChainCase.all, ["text", "json", "dot"])
  func golden(chain: ChainCase, format: String) async throws {
    let run = try await CommandRun(
      ["chain", "-m", manifest.path, "--format", format] + chain.arguments,
      environment: ["CARABINER_DISABLE": chain.disable ?? ""])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.isEmpty, "\(run.errors)")
    try GoldenFile("chain-\(chain.name).\(format == "text" ? "txt" : format)").expect(run.output)
  }

  @Test("the chain shows which setting switched a plugin on or off", arguments: ["text", "json"])
  func decisions(format: String) async throws {
    let manifest = try TemporaryFile(
      """
      carabiner: 1
      plugins:
        - {name: spare, file: \(Self.noop), enabled: false}
        - {name: trial, file: \(Self.noop), enabled: false}
        - {name: sign, file: \(Self.noop)}
        - {name: count, file: \(Self.noop)}
      chain: {http: [spare, trial, sign, count]}
      """)
    let run = try await CommandRun(
      ["chain", "-m", manifest.path, "--format", format],
      environment: ["CARABINER_DISABLE": "sign,count", "CARABINER_ENABLE": "tri*,count"])
    #expect(run.status == 0, "\(run.errors)")
    try GoldenFile("chain-decisions.\(format == "text" ? "txt" : format)").expect(run.output)
  }

  @Test("without a manifest it is the built-in chain")
  func builtIn() async throws {
    let run = try await CommandRun(["chain"], environment: ["CARABINER_DISABLE": ""])
    #expect(run.status == 0)
    try GoldenFile("chain-built-in.txt").expect(run.output)
  }

  @Test("the order up is the order down, reversed, and the parser between")
  func reversed() async throws {
    let run = try await CommandRun(["chain", "-m", manifest.path, "--type", "mutation", "--format", "json"])
    let report = try JSONValue(parsing: run.output)
    let down = report["down"]?.array?.compactMap(\.string) ?? []
    let up = report["up"]?.array?.compactMap(\.string) ?? []
    #expect(
      down == [
        "log", "max-retry", "persisted-queries", "cache-memory", "store", "toURLRequest", "sign", "crc", "response-code",
        "transport (libcurl)",
      ])
    #expect(
      up == [
        "response-code", "crc", "sign", "cbor", "json", "persisted-queries", "max-retry", "log", "cache-memory", "store",
      ])
  }

  @Test("a mandatory plugin is not switched off, and a manifest with a fault has no chain")
  func refused() async throws {
    let mandatory = try TemporaryFile(
      "{carabiner: 1, plugins: [{name: a, file: \(Self.noop), mandatory: true}], chain: {graphql: [a]}}")
    let run = try await CommandRun(["chain", "-m", mandatory.path], environment: ["CARABINER_DISABLE": "~all~"])
    #expect(run.status == 3)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("mandatory"))
    let faulty = try TemporaryFile("{carabiner: 1, chain: {graphql: [nobody]}}")
    await #expect(try CommandRun(["chain", "-m", faulty.path]).status == 3)
  }
}
