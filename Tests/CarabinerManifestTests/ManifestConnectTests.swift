import Carabiner
import CarabinerABI
import CarabinerManifest
import CarabinerWire
import TestTools
import Testing

@Suite("A manifest configures calls of Connect and gRPC-Web")
struct ManifestConnectTests {
  @Test("all keys are read", .rule("connect.60"))
  func everything() throws {
    let manifest = try Manifest(
      text: "{carabiner: 1, protocol: connect, connect: {codec: proto, get: 2KiB, compress-from: 1KiB, timeout: 5s}}")
    #expect(manifest.callProtocol == .connect)
    #expect(manifest.connect.codec == .proto)
    #expect(manifest.connect.get == .upTo(2048))
    #expect(manifest.connect.compressFrom == 1024)
    #expect(manifest.connect.timeout == .seconds(5))
    #expect(manifest.warnings.isEmpty)
  }

  @Test(
    "defaults and other values",
    arguments: [("{}", Manifest.Connect.GET.never), ("{get: never}", .never), ("{get: always}", .always), ("{get: 7}", .upTo(7))])
  func values(connect: String, get: Manifest.Connect.GET) throws {
    let manifest = try Manifest(text: "carabiner: 1\nprotocol: connect\nconnect: \(connect)")
    var expected = Manifest.Connect()
    expected.get = get
    #expect(manifest.connect == expected)
    #expect(try Manifest(text: "carabiner: 1").callProtocol == .graphQL)
    #expect(try Manifest(text: "carabiner: 1\nprotocol: graphql").callProtocol == .graphQL)
    #expect(try Manifest(text: "carabiner: 1\nprotocol: grpc-web").callProtocol == .grpcWeb)
  }

  private static let head = "carabiner: 1\nprotocol: connect\nplugins:\n  - {name: a, file: present.plugin}\n"

  @Test(
    "lists and stages of GraphQL are refused, with the place", .rule("connect.60"),
    arguments: [
      ("chain:\n  http: [a]\n  graphql: [max-retry]", "/chain/graphql", 7), ("chain:\n  graphql: []", "/chain/graphql", 6),
      ("chain: {cache: [a]}", "/chain/cache", 5), ("chain: {parsing: []}", "/chain/parsing", 5),
      ("chain:\n  http:\n    - a\n    - response-code", "/chain/http/1", 8), ("chain: {http: [store]}", "/chain/http/0", 5),
      ("rules: [{when: {operation: a}, chain: {parsing: [json]}}]", "/rules/0/chain/parsing", 5),
      ("built-ins: {max-retry: {maximum-retries: 1}}", "/built-ins", 5),
    ])
  func graphQLStages(text: String, pointer: String, line: Int) throws {
    let problems = ManifestFixtures.problems(Self.head + text)
    #expect(problems.map(\.pointer.description) == [pointer])
    #expect(problems.first?.position?.line == line)
    #expect(problems.first?.message.hasPrefix("protocol: connect has no GraphQL stages") == true, "\(problems)")
  }

  @Test(
    "invalid values are refused with their places by the reader and by the schema",
    arguments: [
      ("protocol: soap", "/protocol", "use graphql, connect, grpc-web"), ("protocol: 7", "/protocol", "must be a text"),
      ("protocol: ''", "/protocol", "is empty"), ("connect: 7", "/connect", "must be an object"),
      ("connect: {codec: xml}", "/connect/codec", "use json or proto"), ("connect: {get: 0}", "/connect/get", "is zero"),
      ("connect: {get: sometimes}", "/connect/get", ""), ("connect: {compress-from: -1}", "/connect/compress-from", ""),
      ("connect: {timeout: 5}", "/connect/timeout", "unit"), ("connect: {timeout: 0s}", "/connect/timeout", "is zero"),
      ("connect: {codecs: json}", "/connect/codecs", "unknown key"),
    ])
  func refusals(text: String, pointer: String, fragment: String) throws {
    let whole = "carabiner: 1\n\(text)"
    let problems = ManifestFixtures.problems(whole)
    #expect(problems.map(\.pointer.description) == [pointer])
    #expect(fragment.isEmpty || problems.first?.message.contains(fragment) == true, "\(problems)")
    let schema = try CompiledSchema(try JSONValue(parsing: Manifest.schema))
    #expect(!schema.violations(in: try ManifestFixtures.value(whole)).isEmpty)
  }

  @Test(
    "settings without an effect give a warning",
    arguments: [
      ("connect: {codec: json}", "/connect"), ("protocol: graphql\nconnect: {}", "/connect"),
      ("protocol: grpc-web\nconnect: {get: always}", "/connect/get"),
    ])
  func warnings(text: String, pointer: String) throws {
    let manifest = try Manifest(text: "carabiner: 1\n\(text)")
    #expect(manifest.warnings.map(\.pointer.description) == [pointer])
  }

  @Test("the default lists are empty", .rule("connect.60"))
  func defaults() throws {
    let manifest = try Manifest(text: "carabiner: 1\nprotocol: connect")
    let plan = manifest.stagePlan(operationName: "a.B/C", type: .query)
    for list in StageKind.allCases { #expect(plan.stages[list].isEmpty) }
  }

  @Test(
    "a rule matches the name of the method and the type of the call", .rule("connect.61"),
    arguments: [
      ("shop.v1.Carts/Get", "query", true), ("shop.v1.Carts/Add", "query", true), ("shop.v2.Carts/Get", "query", false),
      ("shop.v1.Carts/Get", "mutation", false),
    ])
  func rules(name: String, type: String, matches: Bool) throws {
    let manifest = try ManifestFixtures.manifest(
      """
      carabiner: 1
      protocol: connect
      plugins: [{name: a, file: present.plugin}]
      rules: [{when: {operation: "shop.v1.*", type: query}, chain: {http: [a]}}]
      """)
    let plan = manifest.stagePlan(operationName: name, type: type == "query" ? .query : .mutation)
    #expect(plan.active(.http).map(\.name) == (matches ? ["a"] : []))
  }

  @Test("a manifest of the wrong protocol is refused at its protocol", .rule("connect.63"))
  func protocols() throws {
    let connect = try Manifest(text: "carabiner: 1\nprotocol: connect")
    let graphQL = try Manifest(text: "carabiner: 1")
    try graphQL.requireGraphQL("x")
    try connect.requireCalls("x")
    try connect.requireProtocol(of: connect)
    for refused in [
      { try connect.requireGraphQL("use carabiner call") }, { try graphQL.requireCalls("use carabiner run") },
      { try connect.requireProtocol(of: graphQL) },
    ] as [() throws -> Void] {
      let error = try #require(throws: ManifestError.self) { try refused() }
      #expect(error.problems.map(\.pointer.description) == ["/protocol"])
    }
    #expect(ManifestDifference(from: graphQL, to: connect).lines == ["~ protocol"])
  }
}
