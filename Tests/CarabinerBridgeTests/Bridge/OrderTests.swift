@_spi(InterceptorHints) import Carabiner
import CarabinerManifest
import CarabinerProvider
import Foundation
import Synchronization
import TestTools
import Testing

/// Lines that the plugins and interceptors of one test write in the order of their calls.
final class JournalFile: Sendable {
  let url: URL

  init(in folder: FixturePlugin.Folder) throws {
    url = folder.file("journal.txt")
    try Data().write(to: url)
  }

  func note(_ line: String) throws {
    let file = try FileHandle(forWritingTo: url)
    try file.seekToEnd()
    try file.write(contentsOf: Data("\(line)\n".utf8))
    try file.close()
  }

  func lines() throws -> [String] {
    String(decoding: try Data(contentsOf: url), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// An interceptor in Swift that writes to the journal on the way down and up.
private struct NativeStage: GraphQLInterceptor, HTTPInterceptor {
  let name: String
  let journal: JournalFile

  var stageName: String { name }

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    try journal.note("\(name) down")
    return await next(request).map { result in
      try journal.note("\(name) up")
      return result
    }
  }

  func intercept(request: Carabiner.URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    try journal.note("\(name) down")
    let response = try await next(request)
    try journal.note("\(name) up")
    return response
  }
}

/// The interceptors of a manifest, with a Swift interceptor around each of them.
private struct MixedProvider: InterceptorProvider {
  let hosted: HostedChain
  let journal: JournalFile

  func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    var interceptors = try hosted.interceptors(for: operation, context: context)
    var graphQL: [any GraphQLInterceptor] = [NativeStage(name: "g0", journal: journal)]
    for (index, interceptor) in interceptors.graphQL.enumerated() {
      graphQL += [interceptor, NativeStage(name: "g\(index + 1)", journal: journal)]
    }
    var http: [any HTTPInterceptor] = [NativeStage(name: "h0", journal: journal)]
    for (index, interceptor) in interceptors.http.enumerated() {
      http += [interceptor, NativeStage(name: "h\(index + 1)", journal: journal)]
    }
    interceptors.graphQL = graphQL
    interceptors.http = http
    return interceptors
  }
}

/// The interceptors of a manifest behind one that starts the rest of the chain twice, and reads the second stream first.
private struct DoublingProvider: InterceptorProvider {
  private struct Doubling: GraphQLInterceptor {
    // The chain then reads nothing of the first stream before the second begins.
    var traits: InterceptorHints { [.bindsNoTaskLocals] }

    func intercept<Request: GraphQLRequest>(
      request: Request, next: NextInterceptorFunction<Request>
    ) async throws -> InterceptorResultStream<Request> {
      let first = await next(request)
      let second = await next(request)
      for try await _ in second {}
      return first
    }
  }

  let hosted: HostedChain

  func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    var interceptors = try hosted.interceptors(for: operation, context: context)
    interceptors.graphQL.insert(Doubling(), at: 0)
    return interceptors
  }
}

@Suite("The order of plugin stages, alone and among interceptors in Swift")
struct OrderTests {
  private let folder: FixturePlugin.Folder
  private let journal: JournalFile

  init() throws {
    folder = try FixturePlugin.Folder()
    journal = try JournalFile(in: folder)
  }

  private static let expected = [
    "g0 down", "a graphql.on_request", "b graphql.on_request", "g1 down", "g2 down", "c graphql.on_request", "g3 down",
    "a cache.on_read", "b cache.on_read",
    "h0 down", "a http.on_request", "h1 down", "h2 down", "b http.on_request", "c http.on_request", "h3 down",
    "transport",
    "h3 up", "c http.on_head", "b http.on_head", "h2 up", "h1 up", "a http.on_head", "h0 up",
    "c http.on_chunk", "b http.on_chunk", "c http.on_end", "b http.on_end", "a http.on_chunk", "a http.on_end",
    "g3 up", "c graphql.on_result", "c graphql.on_end", "g2 up", "g1 up", "b graphql.on_result", "a graphql.on_result",
    "b graphql.on_end", "a graphql.on_end", "g0 up",
    "b cache.on_write", "a cache.on_write",
  ]

  @Test(
    "every stage sees the request in the order of the manifest and the response in the opposite one",
    arguments: [false, true], [false, true])
  func order(isTraced: Bool, suspends: Bool) async throws {
    let path = try await FixturePlugin.compile("journal", into: folder)
    let plugins = ["a", "b", "c"].map {
      "  - {name: \($0), file: \(path), config: {file: \(journal.url.path), suspend: \"\(suspends ? "yes" : "no")\"}}"
    }
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
        \(plugins.joined(separator: "\n"))
        chain:
          graphql: [a, b, max-retry, c]
          cache: [a, b, store]
          http: [a, response-code, b, c]
        """)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    let hosted = try HostedChain(manifest)
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: MixedProvider(hosted: hosted, journal: journal), endpointURL: url,
        httpTransport: NotingTransport(journal: journal)))
    let tracer = isTraced ? CollectingTracer() : nil
    let results = try client.results(
      of: DynamicOperation(document: "{ hero { name } }"), cachePolicy: .cacheFirst,
      configuration: RequestConfiguration(tracer: tracer))
    for try await response in results { #expect(response.source == .server) }
    let lines = try journal.lines().filter { !$0.hasSuffix("create") && !$0.hasSuffix("release") }
    #expect(lines == Self.expected)
    #expect(tracer.map { $0.events.contains { $0.stage == "b" && $0.hook == "on_result" && $0.direction == .up } } != false)
  }

  @Test("two passes at once have a call each, and each call ends every stage once")
  func passesAtOnce() async throws {
    let path = try await FixturePlugin.compile("journal", into: folder)
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
          - {name: a, file: \(path), config: {file: \(journal.url.path), suspend: "no"}}
        chain: {graphql: [a], cache: []}
        """)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    do {
      let client = ApolloClient(
        networkTransport: RequestChainNetworkTransport(
          interceptorProvider: DoublingProvider(hosted: try HostedChain(manifest)), endpointURL: url,
          httpTransport: AnsweringTransport()))
      for try await _ in try client.results(of: DynamicOperation(document: "{ hero { name } }"), cachePolicy: .networkOnly) {}
    }
    let lines = try journal.lines()
    for hook in ["on_request", "on_result", "on_end", "release"] {
      #expect(lines.count { $0 == "a graphql.\(hook)" } == 2, "\(lines)")
    }
    #expect(lines.last == "a destroy")
  }

  @Test("state that a stage set is released once, after everything else")
  func release() async throws {
    let path = try await FixturePlugin.compile("journal", into: folder)
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins:
          - {name: a, file: \(path), config: {file: \(journal.url.path), suspend: "no"}}
        chain: {graphql: [a], cache: []}
        """)
    let url = try #require(URL(string: "http://127.0.0.1:1/graphql"))
    do {
      let client = ApolloClient(
        networkTransport: RequestChainNetworkTransport(
          interceptorProvider: try HostedChain(manifest), endpointURL: url, httpTransport: AnsweringTransport()))
      for try await _ in try client.results(of: DynamicOperation(document: "{ hero { name } }"), cachePolicy: .networkOnly) {}
    }
    #expect(
      try journal.lines() == [
        "a create", "a graphql.on_request", "a graphql.on_result", "a graphql.on_end", "a graphql.release", "a destroy",
      ])
  }
}

/// A transport that notes each call in the journal.
private struct NotingTransport: HTTPTransport {
  let journal: JournalFile
  private let answering = AnsweringTransport()

  init(journal: JournalFile) { self.journal = journal }

  func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
    try journal.note("transport")
    return try await answering.send(request)
  }
}

/// Collects trace events.
private final class CollectingTracer: ChainTracer {
  private let kept = Mutex<[StageEvent]>([])

  var events: [StageEvent] { kept.withLock { $0 } }

  func record(_ event: StageEvent) { kept.withLock { $0.append(event) } }
}
