import Carabiner
import CarabinerHost
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("Manifests")
struct ManifestTests {
  @Test("a rule replaces the lists it names, for the operations it names")
  func rules() throws {
    let manifest = try Manifest(
      text: """
        carabiner: 1
        chain: {graphql: [max-retry], http: [response-code]}
        rules:
          - when: {operation: "Get*", type: query}
            chain: {http: []}
          - when: {operation: ["Get?ook", "Put*"]}
            chain: {graphql: [], http: [response-code]}
        """)
    func plan(_ name: String?, _ type: GraphQLOperationType = .query) -> [[String]] {
      let plan = manifest.stagePlan(operationName: name, type: type)
      return [plan.active(.graphql).map(\.name), plan.active(.http).map(\.name)]
    }
    #expect(plan("Hero") == [["max-retry"], ["response-code"]])
    #expect(plan("GetHero") == [["max-retry"], []])
    #expect(plan("GetBook") == [[], []])
    #expect(plan("GetBook", .mutation) == [[], ["response-code"]])
    #expect(plan(nil) == [["max-retry"], ["response-code"]])
  }

  @Test("E2, E3, E4: GET, client awareness and persisted queries are what settings and built-ins say")
  func wireOptions() throws {
    #expect(try Manifest(text: "carabiner: 1").wireOptions == WireOptions())
    let manifest = try Manifest(
      text: """
        carabiner: 1
        settings: {get-for-queries: true, client-awareness: {name: shop, version: "3"}}
        built-ins: {persisted-queries: {enabled: true, get-for-hashes: true}}
        """)
    #expect(
      manifest.wireOptions
        == WireOptions(
          usesGETForQueries: true, persistedQueries: .init(isEnabled: true, usesGETForHashes: true),
          clientAwareness: ClientAwareness(applicationName: "shop", applicationVersion: "3")))
  }

  @Test("D1, D6, D7: the store's file, keys, policies and ages are what built-ins say")
  func store() throws {
    #expect(try Manifest(text: "carabiner: 1").store == Manifest.Store())
    let manifest = try Manifest(
      text: """
        carabiner: 1
        settings: {store-records: 5, store-bytes: 2MiB, store-fields: 7}
        built-ins:
          store:
            file: cache.sqlite
            key-fields: {Book: isbn, Edition: [isbn, number], Money: []}
            default-key-fields: []
            field-policies: {Query.edition: {type: Edition, arguments: [book, number]}}
            maximum-ages: {Book: 10m, Book.price: 0s}
            default-maximum-age: 1.5h
            results-with-errors: false
        """, path: "chain.yaml", directory: "/tmp")
    #expect(manifest.store.file == "/tmp/cache.sqlite")
    #expect(!manifest.store.keepsResultsWithErrors)
    #expect(
      manifest.store.policy
        == CacheKeyPolicy(
          keyFields: ["Book": ["isbn"], "Edition": ["isbn", "number"], "Money": []], defaultKeyFields: [],
          fieldPolicies: ["Query.edition": .init(type: "Edition", keyArguments: ["book", "number"])],
          maximumAges: ["Book": 600, "Book.price": 0], defaultMaximumAge: 5400))
    // A limit for a store in memory means nothing to one in a file.
    #expect(manifest.warnings.map(\.pointer.description) == ["/settings/store-records", "/settings/store-bytes"])
    #expect(manifest.settings.storeBytes == 2 << 20)
    #expect(manifest.settings.storeFields == 7)
    #expect(manifest.warnings.first?.position?.line == 2)
  }

  @Test("a configuration that breaks the plugin's schema is refused with the place")
  func configuration() async throws {
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile("misbehave", into: folder)
    let manifest = try Manifest(
      text: "{carabiner: 1, plugins: [{name: p, file: \(path), config: {mod: x}}], chain: {graphql: [p]}}")
    let error = try #require(throws: ManifestError.self) { try HostedChain(manifest) }
    #expect(error.problems.map(\.pointer.description).sorted() == ["/plugins/0/config", "/plugins/0/config/mod"])
    #expect(error.problems.contains { $0.message.contains("did you mean mode?") })
    #expect(error.problems.allSatisfy { $0.position?.line == 1 })
    let refused = try Manifest(
      text: "{carabiner: 1, plugins: [{name: p, file: \(path), config: {mode: refuse}}], chain: {graphql: [p]}}")
    let refusal = #expect(throws: LoadRefusal.self) { try HostedChain(refused) }
    #expect(refusal?.message.contains("this configuration is refused") == true)
  }

  @Test("a plugin in a list it has no stage for is refused")
  func misplaced() async throws {
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile("misbehave", into: folder)
    let manifest = try Manifest(
      text: "{carabiner: 1, plugins: [{name: p, file: \(path), config: {mode: x}}], chain: {http: [p]}}")
    let error = #expect(throws: ManifestError.self) { try HostedChain(manifest) }
    #expect(error?.problems.first?.pointer.description == "/chain/http/0")
  }
}

@Suite("Calls into unmodified C libraries")
struct FFITests {
  private let here = JSONPointer().appending("ffi")

  private func declaration(_ text: String) throws -> FFIDeclaration {
    try FFIDeclaration(try JSONValue(parsing: text), at: here)
  }

  @Test("zlib's crc32 of the body is what it should be")
  func crc32() throws {
    let function = try FFIFunction(
      declaration(
        """
        {"library": "libz.so.1", "function": "crc32", "returns": "u64", "header": "X-CRC", "format": "hex", "arguments":
         [{"type": "u64", "value": 0}, {"type": "pointer", "from": "body"}, {"type": "u32", "from": "body-length"}]}
        """), at: here)
    #expect(function.call(body: Data("123456789".utf8)) == "cbf43926")
  }

  @Test("texts, integers and floating-point numbers cross the border")
  func types() throws {
    let length = try FFIFunction(
      declaration(
        #"{"library":"libc.so.6","function":"strlen","returns":"u64","header":"X","arguments":[{"type":"string","value":"four"}]}"#
      ),
      at: here)
    #expect(length.call(body: Data()) == "4")
    let absolute = try FFIFunction(
      declaration(
        #"{"library":"libc.so.6","function":"abs","returns":"i32","header":"X","arguments":[{"type":"i32","value":-7}]}"#),
      at: here)
    #expect(absolute.call(body: Data()) == "7")
    let root = try FFIFunction(
      declaration(
        #"{"library":"libm.so.6","function":"sqrt","returns":"f64","header":"X","arguments":[{"type":"f64","value":2.25}]}"#),
      at: here)
    #expect(root.call(body: Data()) == "1.5")
  }

  @Test(
    "what can be checked of a declaration is refused by name",
    arguments: [
      (#"{"function":"f","returns":"u64","header":"X"}"#, "library"),
      (#"{"library":"l","function":"f","returns":"u65","header":"X"}"#, "u64"),
      (#"{"library":"l","function":"f","returns":"void","header":"X"}"#, "void"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X","arguments":[{"type":"u8","value":256}]}"#, "u8"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X","arguments":[{"type":"pointer","from":"body"}]}"#, "length"),
      (#"{"library":"l","function":"f","returns":"f64","header":"X","format":"hex"}"#, "hex"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X Y"}"#, "header"),
      (#"{"library":"l","funktion":"f","returns":"u64","header":"X"}"#, "did you mean function?"),
    ])
  func refusals(text: String, message: String) {
    let problem = #expect(throws: ManifestProblem.self) { try declaration(text) }
    #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
  }

  @Test("a library or symbol that is not there is refused")
  func absent() throws {
    let library = try declaration(#"{"library":"libabsent.so","function":"f","returns":"u64","header":"X"}"#)
    #expect(throws: ManifestProblem.self) { try FFIFunction(library, at: here) }
    let symbol = try declaration(#"{"library":"libz.so.1","function":"no_such","returns":"u64","header":"X"}"#)
    #expect(throws: ManifestProblem.self) { try FFIFunction(symbol, at: here) }
  }
}
