import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The plugin response-mask in a gateway, with responses of a server.
@Suite("Catalogue: response-mask")
struct ResponseMaskTests {
  private static let plugin = CommandRun.root.appending(path: "Plugins/response-mask/build/response-mask.so").path

  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// The response of a gateway to a query, from an upstream that answers with `response`.
  private func answer(
    _ rules: String, _ query: String, _ response: String, headers: [String] = [], operationName: String? = nil
  ) throws -> RawAnswer {
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(headers: "Content-Type: application/json\r\n", body: response) })
    _ = try folder.write(
      """
      carabiner: 1
      serve: {forward-headers: [x-role]}
      plugins:
        - {name: response-mask, file: \(Self.plugin), config: {rules: \(rules)}}
      chain: {graphql: [response-mask]}
      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/graphql")
    var body: JSONObject = ["query": .string(query)]
    if let operationName { body["operationName"] = .string(operationName) }
    return try RawAnswer(gateway.endpoint, body: JSONValue.object(body).description, headers: headers)
  }

  private static let users = "[{path: users.*.email, action: mask}, {path: users.*.salary, action: remove}]"

  @Test(
    "fields of a path are masked or removed, under any name and in any fragment",
    arguments: [
      (
        "{ users { id email salary } }",
        #"{"data":{"users":[{"id":1,"email":"a@b","salary":2},{"id":3,"email":null,"salary":null}]}}"#,
        #"{"data":{"users":[{"id":1,"email":"***","salary":null},{"id":3,"email":null,"salary":null}]}}"#
      ),
      (
        "{ x: users { id: email email: id } }", #"{"data":{"x":[{"id":"a@b","email":"7"}]}}"#,
        #"{"data":{"x":[{"id":"***","email":"7"}]}}"#
      ),
      (
        "query Q { ...R } fragment R on Query { users { ...F ... on User @include(if: true) { b: email } } }"
          + "fragment F on User { a: email }",
        #"{"data":{"users":[{"a":"1","b":"2"}]}}"#, #"{"data":{"users":[{"a":"***","b":"***"}]}}"#
      ),
      (
        "{ users { ... on A { x: email } ... on B { x: name } } }", #"{"data":{"users":[{"x":"a"},{"x":"b"}]}}"#,
        #"{"data":{"users":[{"x":"***"},{"x":"***"}]}}"#
      ),
      (
        "{ other { email } users(where: {email: \"} {\"}) { n } }", #"{"data":{"other":{"email":"a"},"users":[]}}"#,
        #"{"data":{"other":{"email":"a"},"users":[]}}"#
      ),
      (
        "{ users { email } }", #"{ "errors" : [{"message":"email"}], "data" : { "users" : [ [ { "email" : "\"\\" } ] ] } }"#,
        #"{ "errors" : [{"message":"email"}], "data" : { "users" : [ [ { "email" : "***" } ] ] } }"#
      ),
      (
        "{ users { email } }", #"{"data":{"users":{"email":["a",null,["b"]]}}}"#,
        #"{"data":{"users":{"email":["***",null,["***"]]}}}"#
      ),
      (
        "{ users { email } }", #"{"data":{"users":[{"email":7},{"email":{"a":"b"}},{"email":true}]}}"#,
        #"{"data":{"users":[{"email":null},{"email":null},{"email":null}]}}"#
      ),
      (
        "{ users { salary } }", #"{"data":{"users":[{"salary":[1,2]},{"salary":{"a":1}},{"salary":""}]}}"#,
        #"{"data":{"users":[{"salary":null},{"salary":null},{"salary":null}]}}"#
      ),
      (
        "{ users { id email } }", #"{"data":{"users":[{"id":12345678901234567890.10,"\u0065mail":"a"}]}}"#,
        #"{"data":{"users":[{"id":12345678901234567890.10,"\u0065mail":"***"}]}}"#
      ),
      ("{ users { id } }", #"{"data":null,"errors":[{"message":"no"}]}"#, #"{"data":null,"errors":[{"message":"no"}]}"#),
      ("{ users { id } }", #"{"data":{"users":[{"email":"not asked for"}]}}"#, #"{"data":{"users":[{"email":"***"}]}}"#),
    ])
  func masked(_ query: String, _ response: String, _ expected: String) throws {
    #expect(try answer(Self.users, query, response).text == expected)
  }

  @Test("a rule is for the operations that it names, and a header makes a request exempt")
  func conditions() throws {
    let rules =
      "[{path: me.email, action: mask, text: \"a\\\"b\", operations: [Get*, Me], unless: {header: X-Role, values: [admin]}}]"
    let response = #"{"data":{"me":{"email":"x"}}}"#
    let masked = #"{"data":{"me":{"email":"a\"b"}}}"#
    for (name, text) in [("GetMe", masked), ("Me", masked), ("Mee", response), ("get", response)] {
      #expect(try answer(rules, "query \(name) { me { email } }", response).text == text, "\(name)")
    }
    #expect(try answer(rules, "{ me { email } }", response).text == response)
    let query = "query Me { me { email } }"
    #expect(try answer(rules, query, response, headers: ["X-Role: admin"]).text == response)
    for role in ["Admin", "user", ""] { #expect(try answer(rules, query, response, headers: ["X-Role: \(role)"]).text == masked) }
    let two = "query Me { me { email } } query Other { me { x: email } }"
    #expect(try answer(rules, two, response, operationName: "Me").text == masked)
  }

  @Test("fragments that spread each other a million times cost little")
  func spreads() throws {
    let fragments = (0..<30).map { "fragment F\($0) on Query { ...F\($0 + 1) ...F\($0 + 1) }" }.joined()
    let query = "{ ...F0 } \(fragments) fragment F30 on Query { users { a: email } ...F0 }"
    #expect(try answer(Self.users, query, #"{"data":{"users":[{"a":"x"}]}}"#).text == #"{"data":{"users":[{"a":"***"}]}}"#)
  }

  @Test(
    "a configuration that contradicts itself is refused",
    arguments: [
      ("[{path: users..email, action: mask}]", "is malformed"),
      ("[{path: \"*.a\", action: mask}]", "does not begin with a field"),
      ("[{path: a b, action: mask}]", "is malformed"), ("[{path: a, action: remove, text: x}]", "has no text"),
      ("[]", "rules"), ("[{path: a, action: hide}]", "action"),
    ])
  func refused(_ rules: String, _ reason: String) async throws {
    let manifest = try folder.write(
      """
      carabiner: 1
      plugins:
        - {name: response-mask, file: \(Self.plugin), config: {rules: \(rules)}}
      chain: {graphql: [response-mask]}
      """, to: "bad.yaml")
    let run = try await CommandRun(["check", "-m", manifest])
    #expect(run.status == 3 && (run.output + run.errors).contains(reason), "\(run.output) \(run.errors)")
  }
}
