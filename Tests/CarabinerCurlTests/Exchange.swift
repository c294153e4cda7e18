import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

/// The engine over which a test runs.
enum TestedEngine {
  @TaskLocal static var current = CurlTransport.Configuration.Engine.auto
}

/// Runs each test once over each engine.
struct OverBothEngines: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    for engine in CurlTransport.Configuration.Engine.allCases {
      try await TestedEngine.$current.withValue(engine) { try await function() }
    }
  }
}

extension Trait where Self == OverBothEngines {
  static var overBothEngines: Self { OverBothEngines() }
}

extension CurlTransport {
  /// A transport over the engine of the test.
  static func tested(
    _ configuration: Configuration = Configuration(), replacing predecessor: CurlTransport? = nil
  ) throws -> CurlTransport {
    var configuration = configuration
    configuration.engine = TestedEngine.current
    return try CurlTransport(configuration: configuration, replacing: predecessor)
  }
}

/// A response with its whole body.
struct Answer {
  let head: HTTPURLResponse
  let body: Data

  var text: String { String(decoding: body, as: UTF8.self) }
}

extension CurlTransport {
  /// Sends one request and reads the whole response.
  func fetch(
    _ url: String, method: String = "POST", headers: HTTPHeaders = [:], body: String? = "{}", timeout: Double = 300
  ) async throws -> Answer {
    var request = Carabiner.URLRequest(url: try #require(URL(string: url)), httpMethod: method, headers: headers)
    request.httpBody = body.map { Data($0.utf8) }
    request.timeoutInterval = timeout
    let response = try await send(request)
    return Answer(head: response.response, body: try await response.chunks.collected())
  }

  /// Sends one request that must fail in the transport.
  func failure(
    _ url: String, method: String = "POST", timeout: Double = 300, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> TransportError {
    try await #require(throws: TransportError.self, sourceLocation: sourceLocation) {
      _ = try await fetch(url, method: method, body: method == "GET" ? nil : "{}", timeout: timeout)
    }
  }

  /// Checks that no transfer is left and that the next request is answered.
  func expectIntact(_ server: ScriptedServer, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    #expect(await eventually { try await self.transferCount == 0 }, sourceLocation: sourceLocation)
    #expect(try await fetch("\(server.origin)/good").text == "good", sourceLocation: sourceLocation)
    #expect(try await transferCount == 0, sourceLocation: sourceLocation)
  }
}

extension ScriptedServer {
  /// A server that answers "good" at /good, and all other requests with `script`.
  convenience init(otherwise script: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void) throws {
    try self.init(
      Self.answering { request, peer in
        if request.target == "/good" { try peer.respond(body: "good") } else { try script(request, peer) }
      })
  }
}
