import Carabiner
import CarabinerManifest
import CarabinerProvider
import Foundation
import TestTools
import Testing

@Suite("Thread classes of plugins")
struct ThreadClassTests {
  private let folder: FixturePlugin.Folder
  private let journal: JournalFile
  private static let calls = 24

  init() throws {
    folder = try FixturePlugin.Folder()
    journal = try JournalFile(in: folder)
  }

  /// Runs many simultaneous requests through one plugin of a thread class. Returns its journal.
  private func journal(of threads: String, suspends: Bool = false) async throws -> [String] {
    let path = try await FixturePlugin.compile("journal", defining: ["THREADS=\(threads)"], into: folder)
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
          - {name: p, file: \(path), config: {file: \(journal.url.path), suspend: "\(suspends ? "yes" : "no")"}}
        chain: {graphql: [p], cache: [], http: [p, response-code]}
        """)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    do {
      let client = ApolloClient(
        networkTransport: RequestChainNetworkTransport(
          interceptorProvider: try HostedChain(manifest), endpointURL: url, httpTransport: AnsweringTransport()))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<Self.calls {
          group.addTask {
            for try await _ in try client.results(of: DynamicOperation(document: "{ hero { name } }"), cachePolicy: .networkOnly)
            {}
          }
        }
        try await group.waitForAll()
      }
    }
    return try journal.lines().map { String($0.dropFirst(2)) }
  }

  private static let hooks = [
    "graphql.on_request", "graphql.on_result", "graphql.on_end", "http.on_request", "http.on_head", "http.on_chunk",
    "http.on_end",
  ]

  private func count(_ line: String, in lines: [String]) -> Int { lines.count { $0 == line } }

  @Test("hooks of a SERIAL plugin never overlap, suspended or not", arguments: [false, true])
  func serial(suspends: Bool) async throws {
    let lines = try await journal(of: "CRB_THREADS_SERIAL", suspends: suspends)
    #expect(count("overlap", in: lines) == 0)
    #expect(count("create", in: lines) == 1)
    for hook in Self.hooks { #expect(count(hook, in: lines) == Self.calls, "\(hook)") }
    #expect(count("destroy", in: lines) == 1)
  }

  @Test("a PER_CALL plugin has an instance of its own for each call and kind of stage, made and destroyed with it")
  func perCall() async throws {
    let lines = try await journal(of: "CRB_THREADS_PER_CALL")
    #expect(count("shared", in: lines) == 0)
    #expect(count("overlap", in: lines) == 0)
    for hook in Self.hooks { #expect(count(hook, in: lines) == Self.calls, "\(hook)") }
    #expect(count("create", in: lines) == count("destroy", in: lines))
    #expect(count("create", in: lines) >= Self.calls)
  }

  @Test("a CONCURRENT plugin has one instance for all calls")
  func concurrent() async throws {
    let lines = try await journal(of: "CRB_THREADS_CONCURRENT", suspends: true)
    #expect(count("create", in: lines) == 1)
    #expect(count("shared", in: lines) > 0)
    for hook in Self.hooks { #expect(count(hook, in: lines) == Self.calls, "\(hook)") }
    #expect(count("destroy", in: lines) == 1)
  }
}
