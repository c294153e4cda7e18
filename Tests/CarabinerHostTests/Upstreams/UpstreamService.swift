import Carabiner
import CarabinerGateway
import CarabinerUpstreams
import CarabinerWire
import Foundation
import ScriptedServer
import TestTools

@testable import CarabinerHost

/// A host whose upstreams are real servers of the test.
struct UpstreamService {
  let host: PluginHost
  private let folder: FixturePlugin.Folder

  /// - Parameter manifest: The manifest without its version.
  init(_ manifest: String, _ change: (inout PluginHost.Configuration) -> Void = { _ in }) async throws {
    folder = try FixturePlugin.Folder()
    let path = folder.url.appending(path: "chain.yaml").path
    try "carabiner: 1\n\(manifest)\n".write(toFile: path, atomically: true, encoding: .utf8)
    var configuration = PluginHost.Configuration()
    change(&configuration)
    host = try await PluginHost(manifest: path, configuration: configuration)
  }

  /// The upstream `main` as `carabiner status` shows it.
  var status: JSONValue { host.live.current.host.upstreams["main"]?.json ?? .null }

  /// Runs an operation, and returns its body as text.
  @discardableResult func run(
    _ type: GraphQLOperationType = .query, name: String = "Probe", headers: HTTPHeaders = [:]
  ) async throws -> String {
    var configuration = RequestConfiguration(writeResultsToCache: false)
    configuration.additionalHeaders = headers
    let operation = DynamicOperation(document: "\(type) \(name) { a }", operationName: name, operationType: type)
    let response = try await host.transport.send(operation, fetchBehavior: .networkOnly, configuration: configuration)
      .finalResult()
    return String(decoding: response.body.bytes, as: UTF8.self)
  }

  /// Runs an operation, and returns its error; nil if it succeeds.
  func failure(_ type: GraphQLOperationType = .query, name: String = "Probe") async -> (any Error)? {
    do {
      try await run(type, name: name)
      return nil
    } catch {
      return error
    }
  }

  /// Whether an operation ends by its timeout. Chain and transport have the same one, and on a busy machine either may be first.
  func timesOut(_ type: GraphQLOperationType = .query, name: String) async -> Bool {
    switch await failure(type, name: name) {
    case let error as RequestChainError: error.code == .timedOut
    case let error as TransportError: error.code == .timedOut
    default: false
    }
  }

  /// Runs queries, some of them at the same time, and returns the number of failures.
  func failures(of count: Int, parallel: Int = 8) async -> Int {
    await withTaskGroup(of: Int.self) { group in
      for worker in 0..<parallel {
        group.addTask {
          var failures = 0
          for _ in stride(from: worker, to: count, by: parallel) { failures += await failure() == nil ? 0 : 1 }
          return failures
        }
      }
      return await group.reduce(0, +)
    }
  }
}

/// Servers of GraphQL that answer in the same way every time.
enum Upstreams {
  static let body = #"{"data":{"a":1}}"#

  /// A server that answers with a status.
  static func answering(_ status: String = "200 OK", headers: String = "", body: String = body) throws -> ScriptedServer {
    try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(status, headers: "Content-Type: application/json\r\n\(headers)", body: body)
      })
  }

  /// A server that reads each request and then resets the connection.
  static func resetting() throws -> ScriptedServer {
    try ScriptedServer { peer in
      _ = try peer.request()
      peer.reset()
    }
  }

  /// A server that reads each request and never answers.
  static func silent() throws -> ScriptedServer {
    try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
  }

  /// A server that refuses connections.
  static func closed() throws -> ScriptedServer { try ScriptedServer(isOpen: false) { _ in } }
}

extension ScriptedServer {
  /// The URL of its endpoint.
  var graphQL: String { "\(origin)/graphql" }
}
