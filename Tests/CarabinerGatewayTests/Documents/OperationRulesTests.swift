import Carabiner
import CarabinerWire
import Logging
import TestTools
import Testing

@testable import CarabinerGateway

/// Decisions about operations by the rules of a generation.
@Suite("Rules for operations")
struct OperationRulesTests {
  private let metrics = OperationRuleMetrics()

  private func list(_ mode: OperationListMode, _ file: String = #"{"one":"query one { a b }","two":"{ c }"}"#) throws
    -> OperationList
  {
    var list = OperationList(mode)
    try list.add(Array(file.utf8))
    return list
  }

  private func gate() -> OperationGate {
    OperationGate(metrics, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// The code of a refusal, or the text of the operation that runs.
  private func outcome(_ body: String, _ rules: OperationRules, gate: OperationGate? = nil) -> String {
    do throws(RequestRefusal) {
      let parameters = try GraphQLParameters(body: Array(body.utf8), contentType: "application/json")
      return try (gate ?? self.gate()).operation(parameters, rules).document
    } catch {
      return "\(error.status) \(error.code)"
    }
  }

  private static func hash(_ hash: String, query: String? = nil) -> String {
    let text = query.map { #""query":"\#($0)","# } ?? ""
    return #"{\#(text)"extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(hash)"}}}"#
  }

  private func count(_ result: String) -> Int {
    var text = PrometheusText()
    metrics.write(to: &text)
    let beginning = "carabiner_operation_list_total{result=\"\(result)\"} "
    return text.text.split(separator: "\n").first { $0.hasPrefix(beginning) }.flatMap { Int($0.dropFirst(beginning.count)) } ?? -1
  }

  // MARK: Lists

  @Test(
    "audit runs everything, document runs listed texts and ids, id runs listed ids only", .rule("gateway.22"),
    arguments: [
      (OperationListMode.audit, #"{"query":"{ other }"}"#, "{ other }"),
      (.audit, hash("two"), "{ c }"), (.audit, #"{"documentId":"one"}"#, "query one { a b }"),
      (.audit, hash("none"), "200 PERSISTED_QUERY_NOT_SUPPORTED"),
      (.audit, hash("none", query: "{ other }"), "{ other }"),
      (.document, #"{"query":"{ other }"}"#, "400 QUERY_NOT_IN_SAFELIST"),
      (.document, #"{"query":"query one{a,b}#c"}"#, "query one{a,b}#c"),
      (.document, #"{"query":"query one{b a}"}"#, "400 QUERY_NOT_IN_SAFELIST"),
      (.document, hash("two"), "{ c }"), (.document, #"{"documentId":"sha256:two"}"#, "{ c }"),
      (.document, hash("none"), "200 PERSISTED_QUERY_NOT_SUPPORTED"),
      (.document, #"{"documentId":"none"}"#, "400 PERSISTED_QUERY_NOT_IN_LIST"),
      (.document, hash("none", query: "{c}"), "{c}"),
      (.document, hash("two", query: "{ other }"), "400 QUERY_NOT_IN_SAFELIST"),
      (.id, #"{"query":"{ c }"}"#, "400 PERSISTED_QUERY_ID_REQUIRED"),
      (.id, hash("two"), "{ c }"), (.id, #"{"documentId":"one"}"#, "query one { a b }"),
      (.id, hash("none"), "400 PERSISTED_QUERY_NOT_IN_LIST"), (.id, #"{"documentId":"none"}"#, "400 PERSISTED_QUERY_NOT_IN_LIST"),
      (.id, hash("two", query: "{ c }"), "{ c }"), (.id, hash("two", query: "{ other }"), "400 PERSISTED_QUERY_ID_REQUIRED"),
    ])
  func modes(_ mode: OperationListMode, _ body: String, _ expected: String) throws {
    #expect(outcome(body, OperationRules(list: try list(mode))) == expected)
  }

  @Test("the upstream gets no descriptions unless the rules keep them, and never the hash of the client", .rule("gateway.23"))
  func descriptions() throws {
    let described = #""Reads a." query Q("The id." $i: ID) { a(i: $i) }"#
    let body = JSONValue.object([
      "query": .string(described), "extensions": ["persistedQuery": ["version": 1, "sha256Hash": "x"], "other": 1],
    ]).serialized()
    let parameters = try GraphQLParameters(body: body, contentType: "application/json")
    let plain = try gate().operation(parameters, nil)
    #expect(plain.document == "           query Q(          $i: ID) { a(i: $i) }")
    #expect(plain.extensions == ["other": 1])
    #expect(try gate().operation(parameters, OperationRules()).document == plain.document)
    let kept = try gate().operation(parameters, OperationRules(keepsDescriptions: true))
    #expect(kept.document == described)
    #expect(kept.extensions == plain.extensions)
  }

  @Test("listed, unlisted and refused operations are counted", .rule("gateway.22"))
  func counters() throws {
    let gate = gate()
    let audit = OperationRules(list: try list(.audit))
    for body in [#"{"query":"{ c }"}"#, #"{"query":"{ other }"}"#, #"{"query":"{ other }"}"#] {
      _ = outcome(body, audit, gate: gate)
    }
    #expect([count("listed"), count("unlisted"), count("refused")] == [1, 2, 0])
    // The same document under other rules is looked up again.
    let document = OperationRules(list: try list(.document))
    #expect(outcome(#"{"query":"{ other }"}"#, document, gate: gate) == "400 QUERY_NOT_IN_SAFELIST")
    #expect(count("refused") == 1)
    let wider = OperationRules(list: try list(.document, #"{"x":"{other}"}"#))
    #expect(outcome(#"{"query":"{ other }"}"#, wider, gate: gate) == "{ other }")
  }

  @Test("Apollo's manifest and an object of texts are read, 10,000 operations of them", .rule("gateway.22"))
  func files() throws {
    let operations = (0..<10_000).map { #"{"id":"id\#($0)","name":"n","type":"query","body":"query n { f\#($0) }"}"# }
    let apollo = #"{"format":"apollo-persisted-query-manifest","version":1,"operations":[\#(operations.joined(separator: ","))]}"#
    var list = try list(.document, apollo)
    #expect(list.count == 10_000)
    // The same id with the same tokens may come again, for example in the file of another client.
    try list.add(Array(#"{"id1":"query n{f1}","more":"{ g }"}"#.utf8))
    #expect(list.count == 10_001)
    let rules = OperationRules(list: list)
    #expect(outcome(#"{"query":"query n { f9999 }"}"#, rules) == "query n { f9999 }")
    #expect(outcome(#"{"query":"query n { f10000 }"}"#, rules) == "400 QUERY_NOT_IN_SAFELIST")
    #expect(outcome(#"{"documentId":"id5000"}"#, rules) == "query n { f5000 }")
  }

  @Test(
    "a file that cannot be used is refused with its mistake", .rule("gateway.22"),
    arguments: [
      ("[", "it is not JSON"), ("[]", "it is a JSON array"), (#"{"a":1}"#, "the id \"a\" has no text"),
      (#"{"a":"{ b"}"#, "not a GraphQL document"), (#"{"a":"type T { b: Int }"}"#, "not a GraphQL document"),
      (#"{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}"#, "its version is 2"),
      (#"{"format":"apollo-persisted-query-manifest","version":1}"#, "no list of operations"),
      (#"{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"body":"{ a }"}]}"#, "operation 1 has no id"),
      (#"{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"x"}]}"#, "write it as its body"),
      (
        #"{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"x","body":"{ a }"},{"id":"x","body":"{ b }"}]}"#,
        "the id \"x\" has two different texts"
      ),
    ])
  func badFiles(_ text: String, _ fragment: String) {
    let fault = #expect(throws: OperationList.Fault.self) { try list(.audit, text) }
    #expect(fault?.description.contains(fragment) == true, "\(fault?.description ?? "")")
  }

  @Test(
    "an unlisted operation is logged once a minute with the first digits of its SHA-256, and at most 1,000 are remembered",
    .rule("gateway.22"))
  func logging() throws {
    let lines = LogLines()
    let clock = TestClock()
    let unlisted = UnlistedOperations(lines.logger) { clock.now }
    for _ in 0..<3 { unlisted.note("000000000001") }
    #expect(lines.count == 1)
    clock.advance(.seconds(60))
    unlisted.note("000000000001")
    #expect(lines.count == 2)
    for index in 0..<2000 { unlisted.note("x\(index)") }
    #expect(lines.count == 2 + 999)
    clock.advance(.seconds(61))
    unlisted.note("y")
    #expect(lines.count == 2 + 999 + 1)
    let analysis = try DocumentAnalysis(
      "{ other }", GraphQLTokens(of: "{ other }"), GraphQLDocument(parsing: "{ other }"), for: OperationRules(list: list(.audit)))
    // printf '{ other }' | sha256sum
    #expect(!analysis.isListed && analysis.hash == "73f53ca0cdff")
  }

  // MARK: Limits

  private func limits(_ change: (inout OperationLimits) -> Void) -> OperationRules {
    var limits = OperationLimits()
    change(&limits)
    return OperationRules(limits: limits)
  }

  private func refusal(_ query: String, _ rules: OperationRules, variables: JSONObject = [:]) -> RequestRefusal? {
    let body = JSONValue.object(["query": .string(query), "variables": .object(variables)]).serialized()
    do throws(RequestRefusal) {
      _ = try gate().operation(GraphQLParameters(body: body, contentType: "application/json"), rules)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "an operation above a limit is refused with 400, the limit and what was found; one at the limit runs", .rule("gateway.23"))
  func eachLimit() {
    let query = "{ x: a @d { b { c } } ...f } fragment f on T { y: d e }"
    let table: [(code: String, found: Int, WritableKeyPath<OperationLimits, Int?>)] = [
      ("MAX_DEPTH_LIMIT", 3, \.depth), ("MAX_FIELDS_LIMIT", 5, \.fields), ("MAX_ROOT_FIELDS_LIMIT", 3, \.rootFields),
      ("MAX_ALIASES_LIMIT", 2, \.aliases), ("MAX_DIRECTIVES_LIMIT", 1, \.directives), ("MAX_COST_LIMIT", 5, \.cost),
    ]
    for (code, found, limit) in table {
      #expect(refusal(query, limits { $0[keyPath: limit] = found }) == nil)
      let refused = refusal(query, limits { $0[keyPath: limit] = found - 1 })
      #expect(refused?.status == 400 && refused?.code == code)
      #expect(refused?.extensions == ["limit": .number(JSONNumber(found - 1)), "found": .number(JSONNumber(found))])
    }
    let tokens = refusal(query, limits { $0.tokens = 10 })
    #expect(tokens?.code == "MAX_TOKENS_LIMIT" && tokens?.extensions["found"] == 25, "\(String(describing: tokens))")
    #expect(refusal(query, limits { $0.tokens = 25 }) == nil)
  }

  @Test("with limits a document has 15,000 tokens at most, and no other limit applies by itself", .rule("gateway.23"))
  func defaults() {
    let many = "{ \(String(repeating: "a ", count: 15_000)) }"
    #expect(refusal(many, limits { _ in })?.code == "MAX_TOKENS_LIMIT")
    #expect(refusal(many, OperationRules(allowsIntrospection: false)) == nil)
    #expect(refusal("{ \(String(repeating: "a ", count: 14_998)) }", limits { _ in }) == nil)
  }

  @Test(
    "30 fragments that each spread the next one twice are refused, a cycle is 400, and first: $n counts with its value",
    .rule("gateway.23"))
  func hostile() {
    var text = "{ ...f0 }"
    for index in 0..<30 { text += " fragment f\(index) on T { ...f\(index + 1) ...f\(index + 1) }" }
    let refused = refusal(text + " fragment f30 on T { a }", limits { $0.fields = 1000 })
    #expect(refused?.code == "MAX_FIELDS_LIMIT" && refused?.extensions["found"] == .number(JSONNumber(1 << 30)))
    let cycle = refusal("{ ...a } fragment a on T { ...a }", limits { $0.depth = 10 })
    #expect(cycle?.status == 400 && cycle?.code == "GRAPHQL_VALIDATION_FAILED")
    let costly = refusal("query ($n: Int) { a(first: $n) { b } }", limits { $0.cost = 1000 }, variables: ["n": 1_000_000])
    #expect(costly?.code == "MAX_COST_LIMIT" && costly?.extensions == ["limit": 1000, "found": 1_000_001])
    #expect(refusal("query ($n: Int) { a(first: $n) { b } }", limits { $0.cost = 1000 }, variables: ["n": 999]) == nil)
  }

  @Test("with warn-only an operation above a limit runs and is counted", .rule("gateway.23"))
  func warnings() {
    let rules = limits {
      $0.depth = 1
      $0.tokens = 3
      $0.warnsOnly = true
    }
    #expect(outcome(#"{"query":"{ a { b } }"}"#, rules) == "{ a { b } }")
    var text = PrometheusText()
    metrics.write(to: &text)
    #expect(text.text.contains(#"carabiner_operation_limits_exceeded_total{limit="depth",outcome="warned"} 1"#))
    #expect(text.text.contains(#"carabiner_operation_limits_exceeded_total{limit="tokens",outcome="warned"} 1"#))
    #expect(text.text.contains(#"carabiner_operation_limits_exceeded_total{limit="depth",outcome="refused"} 0"#))
  }

  @Test("introspection: false refuses __schema and __type, and lets __typename pass", .rule("gateway.23"))
  func introspection() {
    let rules = OperationRules(allowsIntrospection: false)
    for query in [
      "{ __schema { queryType { name } } }", "{ a ...f } fragment f on Query { t: __type(name: \\\"T\\\") { name } }",
    ] {
      #expect(outcome(#"{"query":"\#(query)"}"#, rules) == "400 INTROSPECTION_DISABLED")
    }
    #expect(outcome(#"{"query":"{ __typename }"}"#, rules) == "{ __typename }")
  }

  @Test("the same rules hold for operations over WebSockets", .rule("gateway.22", "gateway.23"))
  func webSockets() async throws {
    let policies = CurrentPolicy()
    policies.set(ClientPolicy(operations: OperationRules(list: try list(.document))))
    let socket = try await SocketChannel(ScriptedRunner(#"{"data":{"c":1}}"#), policies: policies)
    try await socket.send(#"{"type":"connection_init"}"#)
    #expect(try await socket.message()["type"] == "connection_ack")
    try await socket.send(#"{"type":"subscribe","id":"1","payload":{"query":"{ other }"}}"#)
    #expect(try await socket.message()["payload"]?[0]?["extensions"] == ["code": "QUERY_NOT_IN_SAFELIST"])
    try await socket.send(#"{"type":"subscribe","id":"2","payload":{"documentId":"two"}}"#)
    #expect(try await socket.message()["type"] == "next")
    #expect(try await socket.message()["type"] == "complete")
    policies.set(ClientPolicy(operations: limits { $0.depth = 1 }))
    try await socket.send(#"{"type":"subscribe","id":"3","payload":{"query":"{ a { b } }"}}"#)
    #expect(
      try await socket.message()["payload"]?[0]?["extensions"] == ["code": "MAX_DEPTH_LIMIT", "limit": 1, "found": 2])
  }
}
