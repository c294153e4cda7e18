import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The plugin complexity-guard in a gateway. Its own tests (`make test`) cover costs and hostile documents.
@Suite("Catalogue: complexity-guard")
struct ComplexityGuardTests {
  private static let plugin = CommandRun.root.appending(path: "Plugins/complexity-guard/build/complexity-guard.so").path
  private static let weights = """
    {"default": 1, "fields": {"books": {"weight": 2, "list": {"arguments": ["first"], "default": 10}}, "Query.echoHeader": 50}}
    """

  private let folder: StoreFolder
  private let upstream: DemoServerProcess

  init() throws {
    folder = try StoreFolder()
    upstream = try DemoServerProcess()
    _ = try folder.write(Self.weights, to: "weights.json")
  }

  private func gateway(_ config: String) throws -> ServeProcess {
    _ = try folder.write(
      """
      carabiner: 1
      plugins:
        - name: complexity-guard
          file: \(Self.plugin)
          messages-to-clients: true
          config: {weights-file: \(folder.file("weights.json")), \(config)}
      chain: {graphql: [complexity-guard]}
      """, to: "chain.yaml")
    return try ServeProcess(folder, endpoint: upstream.endpoint)
  }

  @Test("an operation above the cost of a weights file is refused with 400, and the client sees by how much")
  func cost() throws {
    let gateway = try gateway("maximum-cost: 40")
    // 10 × (2 + 1) = 30.
    #expect(try gateway.query("{ books { title } }").status == 200)
    let answer = try gateway.query("{ books { title id } a: books { id } }")
    let error = try JSONValue(parsing: answer.text)["errors"]?[0]
    #expect(answer.status == 400)
    #expect(error?["message"]?.string == "the operation has 70 units of cost; at most 40 are allowed; ask for less")
    #expect(error?["extensions"]?["code"] == "REFUSED")
    #expect(error?["extensions"]?["detail"] == ["unit": "units of cost", "found": 70, "maximum": 40])
    #expect(try gateway.query(#"{ echoHeader(name: "x") }"#).status == 400)
  }

  @Test("a hostile document is refused before it reaches the upstream")
  func hostile() throws {
    let gateway = try gateway("maximum-depth: 5, maximum-aliases: 3")
    let doubling = (0..<40).map { "fragment F\($0) on Query { ...F\($0 + 1) ...F\($0 + 1) }" }.joined(separator: " ")
    let documents = [
      "{ " + (0..<1000).map { "a\($0): __typename" }.joined(separator: " ") + " }",
      "{ ...F0 } \(doubling) fragment F40 on Query { __typename }",
      "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
      String(repeating: "{ books ", count: 150) + String(repeating: "}", count: 150),
    ]
    for document in documents {
      let answer = try gateway.query(document)
      #expect(answer.status == 400, "\(document.prefix(60)): \(answer.text)")
    }
    #expect(try gateway.query("{ books { title } }").status == 200)
  }

  @Test("with mode report an expensive operation passes and is logged, and a reload reads the weights again")
  func report() async throws {
    let gateway = try gateway("maximum-cost: 20, mode: report")
    #expect(try gateway.query("query Costly { books { title } }").status == 200)
    #expect(gateway.errors.contains("operation Costly would be refused: the operation has 30 units of cost"), "\(gateway.errors)")
    _ = try folder.write(#"{"default": 2}"#, to: "weights.json")
    _ = try folder.write(
      try String(contentsOfFile: folder.file("chain.yaml"), encoding: .utf8).replacing("mode: report", with: "mode: refuse"),
      to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.query("query Costly { books { title } }").status == 200)
  }

  @Test(
    "mistakes are named by their place, also in the weights file",
    arguments: [
      ("{maximum-cost: 0}", "", "/plugins/0/config/maximum-cost"),
      ("{weights-file: FILE}", #"{"fields": {"a": -1}}"#, "weights.json: /fields/a: this is not an integer from 0"),
      (
        "{weights-file: FILE}", #"{"fields": {"a": {"list": {"arguments": [1]}}}}"#,
        "weights.json: /fields/a/list/arguments/0: this is not"
      ),
      ("{weights-file: FILE}", #"{"fields": {}} x"#, "weights.json: this is not valid JSON"),
      ("{weights-file: FILE, weights: {}}", "{}", "/weights: give either weights or weights-file"),
      ("{weights-file: /no/such/file}", "", "/weights-file: /no/such/file: the file of weights cannot be read"),
    ])
  func mistakes(_ config: String, _ weights: String, _ place: String) async throws {
    let file = try folder.write(weights, to: "weights.json")
    let config = config.replacing("FILE", with: file)
    let manifest = try TemporaryFile(
      "carabiner: 1\nplugins: [{name: guard, file: \(Self.plugin), config: \(config)}]\nchain: {graphql: [guard]}\n")
    let run = try await CommandRun(["check", "-m", manifest.path])
    #expect(run.status == 3)
    #expect(run.errors.contains(place), "\(run.errors)")
  }
}
