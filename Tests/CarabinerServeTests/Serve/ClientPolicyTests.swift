import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The keys of `serve` about clients, from the file to the answer.
@Suite("carabiner serve: browsers, operations and limits")
struct ClientPolicyTests {
  private let folder: StoreFolder
  private let upstream: ScriptedServer

  init() throws {
    folder = try StoreFolder()
    upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
  }

  private func write(_ serve: String) throws { _ = try folder.write("carabiner: 1\nserve: \(serve)\n", to: "chain.yaml") }

  private func gateway(_ arguments: String...) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql", arguments)
  }

  private func code(_ answer: RawAnswer) throws -> JSONValue? {
    try JSONValue(parsing: answer.text)["errors"]?[0]?["extensions"]?["code"]
  }

  @Test(
    "the keys of serve hold after a reload, and a bad value keeps the old generation",
    .rule("gateway.19", "gateway.20", "gateway.23"))
  func reload() async throws {
    try write("{}")
    let gateway = try gateway()
    func answer() throws -> RawAnswer { try gateway.query("{ a { b } }", headers: ["Origin: https://a.test"]) }
    #expect(try !answer().head.contains { $0.hasPrefix("Access-Control") })
    try write("{cors: {origins: ['https://a.test']}, operations: {limits: {depth: 1}}}")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try answer().status == 400)
    #expect(try code(answer()) == "MAX_DEPTH_LIMIT")
    #expect(try answer().head.contains("Access-Control-Allow-Origin: https://a.test"))
    try write("{cors: {origins: ['https://a.test/path']}}")
    #expect(try await gateway.ask("reload").status != 0)
    #expect(try code(answer()) == "MAX_DEPTH_LIMIT")
    try write("{}")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try answer().status == 200)
  }

  @Test("the list of operations is watched, and a list with a mistake keeps the old one", .rule("gateway.22"))
  func watchedList() async throws {
    // Editors of some systems begin a file with a byte order mark.
    _ = try folder.write("\u{FEFF}" + #"{"one":"{ a }"}"#, to: "operations.json")
    try write("{operations: {allow: {files: [operations.json], mode: document}}}")
    let gateway = try gateway("--watch")
    #expect(try gateway.query("{ a }").status == 200)
    #expect(try code(gateway.query("{ b }")) == "QUERY_NOT_IN_SAFELIST")
    _ = try folder.write(#"{"one":"{ a }","two":"{ b }"}"#, to: "operations.json")
    while try gateway.query("{ b }").status != 200 { try await Task.sleep(for: .milliseconds(50)) }
    _ = try folder.write(#"{"one":"{ a "}"#, to: "operations.json")
    let refused = try await gateway.ask("reload")
    #expect(refused.status != 0)
    #expect((refused.output + refused.errors).contains("operations.json cannot be used"), "\(refused.output)\(refused.errors)")
    #expect(try gateway.query("{ b }").status == 200)
  }

  @Test(
    "carabiner check reports one bad value of each key with its place",
    .rule("convention.1", "gateway.19", "gateway.20", "gateway.22", "gateway.23"))
  func problems() async throws {
    _ = try folder.write(#"{"one":"{ a "}"#, to: "operations.json")
    let path = try folder.write(
      """
      carabiner: 1
      serve:
        cors:
          origins: ["https://a.test/path"]
          headers: ["a b"]
          expose: ["*"]
          credentials: 1
          maximum-age: 48h
        compression:
          encodings: [br]
          minimum: 0
          level: 10
        operations:
          allow:
            files: [absent.json]
            mode: strict
          limits:
            depth: 0
            fields: many
            root-fields: -1
            aliases: -1
            directives: 1.5
            cost: 0
            tokens: 100001
            list-arguments: ["a-b"]
            warn-only: 1
          introspection: 0

      """, to: "bad.yaml")
    let run = try await CommandRun(["check", "-m", path])
    #expect(run.status == 3)
    try GoldenFile("check-clients.txt").expect(run.errors.replacing("\(folder.path)/", with: ""))
  }

  @Test("carabiner check reads the lists of operations", .rule("convention.1", "gateway.22"))
  func lists() async throws {
    _ = try folder.write(#"{"one":"{ a "}"#, to: "operations.json")
    try write("{operations: {allow: {files: [operations.json], mode: audit}}}")
    let run = try await CommandRun(["check", "-m", folder.file("chain.yaml")])
    #expect(run.status == 3)
    #expect(run.errors.contains("/serve/operations/allow/files/0") && run.errors.contains("\"one\" is not a GraphQL document"))
  }

  @Test("no bytes of a client are in a label of a metric", .rule("convention.4", "gateway.22", "gateway.23"))
  func labels() async throws {
    _ = try folder.write(#"{"one":"{ a }"}"#, to: "operations.json")
    try write(
      "{operations: {allow: {files: [operations.json], mode: audit}, limits: {depth: 1}}, cors: {origins: ['*']}, compression: {}}"
    )
    let gateway = try gateway()
    _ = try gateway.query(
      "query SecretName { secretField { b } }", headers: ["Origin: https://secret.test", "Accept-Encoding: secret"])
    let metrics = try await ToolRun(
      URL(filePath: "/usr/bin/curl"), ["-sS", "--fail", "--unix-socket", gateway.socket, "http://x/metrics"]
    ).output
    #expect(metrics.contains("carabiner_operation_list_total{result=\"unlisted\"} 1"), "\(metrics)")
    #expect(!metrics.lowercased().contains("secret"))
  }
}
