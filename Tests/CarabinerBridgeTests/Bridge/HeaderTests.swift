import Carabiner
import CarabinerManifest
import CarabinerProvider
import Foundation
import TestTools
import Testing

@Suite("Plugins change headers")
struct HeaderTests {
  /// Runs one request through stages that change headers, outermost first.
  private func run(
    _ stages: [(down: String, up: String)], then expect: ([HTTPHeaders.Field], Carabiner.HTTPURLResponse) -> Void
  ) async throws {
    let plugins = try HostedPlugins()
    let path = try await FixturePlugin.compile("headers", into: plugins.folder)
    let entries = stages.enumerated().map {
      "  - {name: p\($0), file: \(path), config: {down: \"\($1.down)\", up: \"\($1.up)\"}}"
    }
    let chain = try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          plugins:
          \(entries.joined(separator: "\n"))
          chain: {http: [\(stages.indices.map { "p\($0)" }.joined(separator: ", "))]}
          """))
    let transport = AnsweringTransport()
    let results = try HostedPlugins.client(chain, transport).results(of: HostedPlugins.operation, cachePolicy: .networkOnly)
    var head: Carabiner.HTTPURLResponse?
    for try await response in results { head = response.httpResponse }
    let request = try #require(transport.requests.first)
    expect(request.headers.fields.filter { $0.name.hasPrefix("X-") && !$0.name.hasPrefix("X-APOLLO") }, try #require(head))
  }

  private func field(_ name: String, _ value: String) -> HTTPHeaders.Field { HTTPHeaders.Field(name: name, value: value) }

  @Test("each change sees those before it, of its own hook and of the stages before")
  func order() async throws {
    let stages = [
      ("=X-A:1 +x-a:2 +X-B:3 #X-B", "=X-Out:2 ?X-In"), ("=X-B:4 -X-A ?X-B", "=X-In:1 -Content-Type"),
    ]
    try await run(stages) { sent, head in
      #expect(sent == [field("X-B", "4"), field("X-Count", "1"), field("X-Read", "4")])
      #expect(head.headers.fields == [field("X-In", "1"), field("X-Out", "2"), field("X-Read", "1")])
      #expect(head.statusCode == 200)
    }
  }

  @Test("a new head has only the headers it came with and those set after it")
  func head() async throws {
    try await run([("", "=X-Before:1 !207 =X-After:2 ?X-Head #X-Before")]) { _, head in
      #expect(head.statusCode == 207)
      let expected = [field("X-Head", "new"), field("X-After", "2"), field("X-Read", "new"), field("X-Count", "0")]
      #expect(head.headers.fields == expected)
    }
  }

  @Test("a head staged on the way down does not touch the request")
  func headBeforeRespond() async throws {
    try await run([("=X-A:1 !500 =X-B:2 ?X-Head", "")]) { sent, head in
      #expect(sent == [field("X-A", "1"), field("X-B", "2"), field("X-Read", "none")])
      #expect(head.statusCode == 200)
    }
  }

  @Test("a hook that changes headers endlessly is stopped, and its earlier changes are kept")
  func limit() async throws {
    try await run([("*X-Many", "*X-Many")]) { sent, head in
      #expect(sent == [field("X-Many", "x")])
      #expect(head.headers.values(for: "X-Many") == ["x"])
    }
  }
}
