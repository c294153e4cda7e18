import Carabiner
import CarabinerGateway
import CarabinerHost
import CarabinerManifest
import CarabinerTracing
import Foundation
import InMemoryTracing
import ScriptedServer
import TestTools
import Testing
import Tracing

@Suite("Retries between the HTTP stages and the endpoints")
struct RetryTests {
  /// Servers that fail in one way, and the number of requests that reach a single one of them.
  private struct Cell: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let causes: String
    let query: Int
    let mutation: Int
    let server: @Sendable () throws -> ScriptedServer
  }

  private static let standard = "[connect, reset, 502, 503, 504]"

  private static let cells: [Cell] = [
    Cell(testDescription: "a reset after reading", causes: standard, query: 2, mutation: 1, server: Upstreams.resetting),
    Cell(testDescription: "a reset that is not listed", causes: "[connect]", query: 1, mutation: 1, server: Upstreams.resetting),
    Cell(testDescription: "status 502", causes: standard, query: 2, mutation: 1) { try Upstreams.answering("502 Bad Gateway") },
    Cell(testDescription: "status 503", causes: standard, query: 2, mutation: 1) { try Upstreams.answering("503 Unavailable") },
    Cell(testDescription: "status 504", causes: standard, query: 2, mutation: 1) { try Upstreams.answering("504 Timeout") },
    Cell(testDescription: "status 503, not listed", causes: "[502]", query: 1, mutation: 1) {
      try Upstreams.answering("503 Unavailable")
    },
    Cell(testDescription: "status 500", causes: standard, query: 1, mutation: 1) { try Upstreams.answering("500 Error") },
    Cell(testDescription: "status 500, listed", causes: "[500]", query: 2, mutation: 1) { try Upstreams.answering("500 Error") },
    Cell(testDescription: "status 429", causes: standard, query: 1, mutation: 1) { try Upstreams.answering("429 Too Many") },
    Cell(testDescription: "status 429, listed", causes: "[429]", query: 2, mutation: 1) {
      try Upstreams.answering("429 Too Many")
    },
    Cell(testDescription: "status 404", causes: standard, query: 1, mutation: 1) { try Upstreams.answering("404 Not Found") },
    Cell(testDescription: "a per-attempt timeout", causes: standard, query: 1, mutation: 1, server: Upstreams.silent),
    Cell(testDescription: "a per-attempt timeout, listed", causes: "[timeout]", query: 2, mutation: 1, server: Upstreams.silent),
    Cell(testDescription: "GraphQL errors with status 200", causes: standard, query: 1, mutation: 1) {
      try Upstreams.answering(body: #"{"errors":[{"message":"no"}]}"#)
    },
    Cell(testDescription: "an answer that has begun", causes: standard, query: 1, mutation: 1) {
      try ScriptedServer { peer in
        _ = try peer.request()
        try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        peer.reset()
      }
    },
  ]

  @Test("each cell of the table, by the requests that a server counts", .rule("gateway.4"), arguments: cells)
  private func table(cell: Cell) async throws {
    // On a busy machine, a server may take longer to answer than a short timeout allows.
    let limit = cell.testDescription.contains("timeout") ? "300ms" : "1m"
    for (type, expected) in [(GraphQLOperationType.query, cell.query), (.mutation, cell.mutation)] {
      let server = try cell.server()
      let service = try await UpstreamService(
        """
        upstreams:
          main: {endpoints: ["\(server.graphQL)"], retry: {causes: \(cell.causes), per-attempt-timeout: \(limit)}}
        """)
      _ = await service.failure(type)
      #expect(server.requests.count == expected, "\(type)")
    }
  }

  @Test("a subscription is sent again before its first byte, and a mutation only if it was not sent", .rule("gateway.4"))
  func notSent() async throws {
    for type in [GraphQLOperationType.query, .mutation, .subscription] {
      let (closed, good) = (try Upstreams.closed(), try Upstreams.answering())
      let service = try await UpstreamService(
        """
        upstreams:
          main: {endpoints: ["\(closed.graphQL)", "\(good.graphQL)"], balance: round-robin, outliers: none}
        """)
      for _ in 0..<10 { try #expect(await service.run(type) == Upstreams.body) }
      #expect(good.requests.count == 10)
    }
    let (reset, good) = (try Upstreams.resetting(), try Upstreams.answering())
    let service = try await UpstreamService(
      "upstreams: {main: {endpoints: ['\(reset.graphQL)', '\(good.graphQL)'], balance: round-robin, outliers: none}}")
    for _ in 0..<4 { try #expect(await service.run(.subscription) == Upstreams.body) }
    #expect(reset.requests.count > 0 && good.requests.count == 4)
  }

  @Test(
    "retries reach a backup beside a closed endpoint, without an ejection, and the budget does not count them", .rule("gateway.6")
  )
  func backup() async throws {
    let (closed, good) = (try Upstreams.closed(), try Upstreams.answering())
    let service = try await UpstreamService(
      """
      upstreams:
        main:
          endpoints: ["\(closed.graphQL)", {url: "\(good.graphQL)", backup: true}]
          retry: {budget: 0%, minimum-concurrent: 0}
          outliers: none
      """)
    for type in [GraphQLOperationType.query, .mutation] { try #expect(await service.run(type) == Upstreams.body) }
    #expect(await service.failures(of: 40) == 0)
  }

  @Test("a status of an endpoint is retried at a backup, within the budget", .rule("gateway.6"))
  func backupForStatus() async throws {
    let (failing, good) = (try Upstreams.answering("503 Unavailable"), try Upstreams.answering())
    let endpoints = "endpoints: ['\(failing.graphQL)', {url: '\(good.graphQL)', backup: true}], outliers: none"
    let service = try await UpstreamService("upstreams: {main: {\(endpoints)}}")
    for _ in 0..<3 { try #expect(await service.run() == Upstreams.body) }
    let denied = try await UpstreamService(
      "upstreams: {main: {\(endpoints), retry: {budget: 0%, minimum-concurrent: 0}}}")
    #expect(await denied.failure() != nil)
    #expect(good.requests.count == 3)
  }

  @Test("1,000 mutations against a server that resets after reading are counted exactly once each", .rule("gateway.4"))
  func mutations() async throws {
    let server = try Upstreams.resetting()
    let service = try await UpstreamService("upstreams: {main: {endpoints: ['\(server.graphQL)'], retry: {attempts: 10}}}")
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<10 {
        group.addTask { for call in 0..<100 { _ = await service.failure(.mutation, name: "M\(worker)x\(call)") } }
      }
    }
    var counts: [String: Int] = [:]
    for request in server.requests {
      let name = String(decoding: request.body, as: UTF8.self).firstMatch(of: /mutation (M[0-9x]+)/).map { String($0.1) }
      counts[name ?? "?", default: 0] += 1
    }
    #expect(counts.count == 1000)
    #expect(counts.values.allSatisfy { $0 == 1 })
  }

  @Test("with a single endpoint: and no upstreams, the default retries apply, and mutations are sent once", .rule("gateway.4"))
  func plainEndpoint() async throws {
    for server in [try Upstreams.answering("503 Unavailable"), try Upstreams.resetting()] {
      let service = try await UpstreamService("endpoint: \"\(server.graphQL)\"")
      #expect(await service.failure(.query) != nil)
      #expect(server.requests.count == 2)
      #expect(await service.failure(.mutation) != nil)
      #expect(server.requests.count == 3)
    }
  }

  @Test("retry: {attempts: 1} switches retries off", .rule("gateway.4"))
  func off() async throws {
    let server = try Upstreams.answering("503 Unavailable")
    let service = try await UpstreamService("upstreams: {main: {endpoints: ['\(server.graphQL)'], retry: {attempts: 1}}}")
    #expect(await service.failure() != nil)
    #expect(server.requests.count == 1)
  }

  @Test("each attempt has a client span, and those after the first have http.request.resend_count", .rule("gateway.5"))
  func spans() async throws {
    let server = try Upstreams.answering("503 Unavailable")
    let service = try await UpstreamService(
      "upstreams: {main: {endpoints: ['\(server.graphQL)'], retry: {attempts: 3, base-delay: 1ms}}}")
    let tracer = InMemoryTracer()
    let configuration = RequestConfiguration(writeResultsToCache: false, tracer: ChainSpans(tracer))
    let operation = DynamicOperation(document: "query Probe { a }", operationName: "Probe")
    await #expect(throws: ResponseCodeError.self) {
      _ = try await service.host.transport.send(operation, fetchBehavior: .networkOnly, configuration: configuration)
        .finalResult()
    }
    let spans = tracer.finishedSpans.filter { $0.kind == .client }
    #expect(spans.map { $0.attributes.get("http.response.status_code") } == [.int64(503), .int64(503), .int64(503)])
    #expect(spans.map { $0.attributes.get("http.request.resend_count") } == [nil, .int64(1), .int64(2)])
    #expect(server.requests.map { $0.header(InMemoryTracer.spanIDKey) } == spans.map(\.spanID))
  }

  @Test("the built-in max-retry stays outside, and the deadline ends all retries", .rule("gateway.5"))
  func deadline() async throws {
    let server = try Upstreams.answering("503 Unavailable")
    let service = try await UpstreamService(
      """
      settings: {timeout: 400ms}
      upstreams:
        main: {endpoints: ["\(server.graphQL)"], retry: {attempts: 10, base-delay: 20s, maximum-delay: 1h}}
      """)
    let clock = ContinuousClock()
    let time = await clock.measure { #expect(await service.failure() != nil) }
    // Without the deadline, the first delay alone would take ten seconds on average.
    #expect(time < .seconds(5))
    #expect(server.requests.count <= 2)
  }

  @Test("a Retry-After longer than maximum-delay ends the retries, and a short one is waited for", .rule("gateway.6"))
  func retryAfter() async throws {
    for (maximum, expected) in [("900ms", 1), ("1s", 2)] {
      let server = try Upstreams.answering("503 Unavailable", headers: "Retry-After: 1\r\n")
      let service = try await UpstreamService(
        "upstreams: {main: {endpoints: ['\(server.graphQL)'], retry: {maximum-delay: \(maximum)}}}")
      let clock = ContinuousClock()
      let time = await clock.measure { #expect(await service.failure() != nil) }
      #expect(server.requests.count == expected)
      #expect(expected == 1 || time >= .seconds(1))
    }
  }

  @Test(
    "all endpoints answer 503 under 200 parallel queries: the upstream sees at most 1.25 times the requests", .rule("gateway.7"))
  func budget() async throws {
    let servers = try (0..<2).map { _ in try Upstreams.answering("503 Unavailable") }
    let service = try await UpstreamService(
      "upstreams: {main: {endpoints: ['\(servers[0].graphQL)', '\(servers[1].graphQL)'], outliers: none}}")
    let failures = await service.failures(of: 4000, parallel: 200)
    #expect(failures == 4000)
    let seen = servers.reduce(0) { $0 + $1.requests.count }
    #expect(seen > 4000)
    #expect(Double(seen) <= 1.25 * 4000, "\(seen)")
  }

  @Test("queries by GET reach each endpoint with its own query items", .rule("gateway.1"))
  func get() async throws {
    let servers = try (0..<2).map { _ in try Upstreams.answering() }
    let service = try await UpstreamService(
      """
      settings: {get-for-queries: true}
      upstreams:
        main: {endpoints: ["\(servers[0].graphQL)?key=1", "\(servers[1].graphQL)"], balance: round-robin}
      """)
    for _ in 0..<10 { try await service.run() }
    let targets = servers.map { $0.requests.map(\.target) }
    #expect(targets.map(\.count) == [5, 5])
    #expect(targets[0].allSatisfy { $0.hasPrefix("/graphql?key=1&") && $0.contains("query=") })
    #expect(targets[1].allSatisfy { $0.hasPrefix("/graphql?") && $0.contains("query=") && !$0.contains("key=1") })
  }
}
