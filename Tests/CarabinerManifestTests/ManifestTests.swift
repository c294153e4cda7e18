import Carabiner
import CarabinerABI
import CarabinerManifest
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
      return [plan.active(.graphQL).map(\.name), plan.active(.http).map(\.name)]
    }
    #expect(plan("Hero") == [["max-retry"], ["response-code"]])
    #expect(plan("GetHero") == [["max-retry"], []])
    #expect(plan("GetBook") == [[], []])
    #expect(plan("GetBook", .mutation) == [[], ["response-code"]])
    #expect(plan(nil) == [["max-retry"], ["response-code"]])
  }

  @Test("a cache stage that a gateway never asks is a warning, in the chain and in rules")
  func idleCache() throws {
    func warnings(_ policy: String) throws -> [ManifestProblem] {
      try Manifest(
        text: """
          carabiner: 1
          \(policy)
          plugins: [{name: p, file: /bin/sh}]
          chain: {cache: [p]}
          rules: [{when: {operation: A}, chain: {cache: [p]}}]
          """
      ).gatewayWarnings
    }
    for policy in ["", "serve: {cache-policy: networkOnly}"] {
      let found = try warnings(policy)
      #expect(found.map(\.pointer.description) == ["/chain/cache/0", "/rules/0/chain/cache/0"])
      #expect(found.allSatisfy { $0.message.contains("never asks the cache stage p") })
    }
    for policy in ["cacheFirst", "cacheAndNetwork"] { #expect(try warnings("serve: {cache-policy: \(policy)}") == []) }
  }

  @Test(
    "a tab where YAML takes none is named, with its line and column",
    arguments: [
      ("serve:\n\tlimits: {}", 3, 1), ("serve:\n  limits: {}\n  \tpaths: [/a]", 4, 3), ("headers:\n  a:\t@b", 3, 6),
      ("headers: {ä: b}\n\t \tx: y", 3, 1),
    ])
  func tabs(text: String, line: Int, column: Int) throws {
    let error = try #require(throws: ManifestError.self) { try Manifest(text: "carabiner: 1\n\(text)\n") }
    let problem = try #require(error.problems.first)
    #expect(problem.code == .syntax && problem.position?.line == line && problem.position?.column == column, "\(problem)")
    #expect(problem.message.contains("there is a tab") == !text.contains("@"), "\(problem)")
  }

  @Test(
    "a tab counts as one column in the place of a mistake after it",
    arguments: [
      ("settings: {staging: memfd,\tfoo: 1}", 2, 28), ("settings:\t{\"é\":\t1}", 2, 12),
      ("\"settings\":\t{\"foo\": 1}", 2, 14),
    ])
  func placeAfterTab(text: String, line: Int, column: Int) throws {
    let error = try #require(throws: ManifestError.self) { try Manifest(text: "carabiner: 1\n\(text)\n") }
    #expect(error.problems.map { $0.position?.description } == ["line \(line), column \(column)"], "\(error)")
  }

  @Test("settings and built-ins set GET, client awareness and persisted queries", .rule("request.2", "request.3", "request.4"))
  func wireOptions() throws {
    #expect(try Manifest(text: "carabiner: 1").wireOptions == WireOptions())
    let manifest = try Manifest(
      text: """
        carabiner: 1
        settings: {get-for-queries: true, subscriptions: events, client-awareness: {name: shop, version: "3"}}
        built-ins: {persisted-queries: {enabled: true, get-for-hashes: true}}
        """)
    #expect(
      manifest.wireOptions
        == WireOptions(
          usesGETForQueries: true, persistedQueries: .init(isEnabled: true, usesGETForHashes: true),
          clientAwareness: ClientAwareness(applicationName: "shop", applicationVersion: "3"), subscriptionFormat: .events))
  }

  @Test("built-ins set the store's file, keys, policies and ages", .rule("store.1", "store.6", "store.7"))
  func store() throws {
    #expect(try Manifest(text: "carabiner: 1").store == Manifest.Store())
    let manifest = try Manifest(
      text: """
        carabiner: 1
        settings: {store-records: 5, store-bytes: 2MiB, store-fields: 7, store-file-bytes: 3MiB}
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
    // Limits for a store in memory have no effect on a store in a file.
    #expect(manifest.warnings.map(\.pointer.description) == ["/settings/store-records", "/settings/store-bytes"])
    #expect(manifest.settings.storeBytes == 2 << 20)
    #expect(manifest.settings.storeFields == 7)
    #expect(manifest.settings.storeFileBytes == 3 << 20)
    let inMemory = try Manifest(text: "carabiner: 1\nsettings: {store-file-bytes: 3MiB, store-bytes: 2MiB}")
    #expect(inMemory.warnings.map(\.pointer.description) == ["/settings/store-file-bytes"])
    #expect(manifest.warnings.first?.position?.line == 2)
  }

  @Test(
    "a byte order mark at the head of a file is skipped",
    arguments: ["carabiner: 1\nx: 1", "---\ncarabiner: 1\nx: 1", "{\"carabiner\": 1, \"x\": 1}"])
  func mark(text: String) throws {
    func problems(_ text: String) -> [ManifestProblem]? {
      do {
        _ = try Manifest(bytes: Array(text.utf8), path: "chain", directory: nil)
        return nil
      } catch {
        return (error as? ManifestError)?.problems
      }
    }
    let found = try #require(problems(text))
    #expect(found.map(\.code) == [.unknownKey] && found[0].position != nil)
    #expect(problems("\u{FEFF}\(text)") == found)
  }

  @Test(
    "names in lists of headers that have no effect are warned about",
    arguments: [
      (
        "serve: {forward-headers: [accept, x-a, Host, te]}",
        ["/serve/forward-headers/0", "/serve/forward-headers/2", "/serve/forward-headers/3"]
      ),
      ("serve: {return-headers: [date, x-request-id, etag]}", ["/serve/return-headers/0", "/serve/return-headers/1"]),
      ("serve: {connection-init-headers: [accept, authorization]}", ["/serve/connection-init-headers/0"]),
      ("serve: {forward-headers: [x-request-id, \"x-*\", \"sec-*\"], return-headers: [\"x-*\"]}", []),
      (
        "headers: {X-Caller: me, authorization: a}\nserve: {forward-headers: [\"x-*\", Authorization, cookie]}",
        ["/serve/forward-headers/0", "/serve/forward-headers/1"]
      ),
      (
        "settings: {client-awareness: {name: shop}}\nserve: {forward-headers: [x-a, \"apollographql-*\", Apollographql-Client-Name]}",
        ["/serve/forward-headers/1", "/serve/forward-headers/2"]
      ),
      ("settings: {client-awareness: {name: shop}}\nserve: {forward-headers: [apollographql-client-version]}", []),
    ])
  func headersWithoutEffect(text: String, pointers: [String]) throws {
    let manifest = try Manifest(text: "carabiner: 1\n\(text)")
    #expect(manifest.warnings.map(\.pointer.description) == pointers)
    #expect(manifest.warnings.allSatisfy { $0.code == .unusedSetting && $0.position != nil })
  }

  @Test(
    "stored responses are warned about if a forwarded field may identify a client", .rule("redis.20"),
    arguments: [
      ("[authorization]", true), ("[Accept-Language, COOKIE]", true), (#"["x-*"]"#, true), (#"["auth*"]"#, true),
      (#"["x-tenant-*"]"#, true), ("[X-User]", true), ("[]", false), ("[x-request-id]", false),
      (#"[accept-language, cookies, "accept-*"]"#, false),
    ])
  func sharedStore(headers: String, isWarned: Bool) throws {
    for policy in CachePolicy.allCases {
      let manifest = try Manifest(
        text: "carabiner: 1\nserve: {forward-headers: \(headers), cache-policy: \(policy.rawValue)}")
      let codes = manifest.warnings.map(\.code)
      #expect(codes == (isWarned && policy != .networkOnly ? [.sharedStore] : []))
      if let warning = manifest.warnings.first { #expect(warning.position?.line == 2) }
    }
  }
}
