import Carabiner
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import CarabinerWorkers
import Foundation
import TestTools

/// A chain whose stages are entries of Tests/Fixtures/Workers/trial.c, and calls through it.
struct TrialChain {
  /// An entry of the manifest.
  struct Entry {
    let name: String
    let action: String
    /// `isolation` of the manifest.
    var isolation = "worker"
    /// More keys of the manifest.
    var extra = ""
  }

  struct NoOtherProcess: Error {
    let workers: [WorkerStatus]
  }

  /// A transport that returns one body.
  private struct Transport: HTTPTransport {
    let body: Data

    func send(_ request: Carabiner.URLRequest) async throws -> HTTPResponse {
      HTTPResponse(
        response: Carabiner.HTTPURLResponse(url: request.url, statusCode: 200, headers: ["Content-Type": "application/json"]),
        chunks: PullStream(body))
    }
  }

  static let serverAnswer = #"{"data":{"hero":{"name":"server"}}}"#

  let chain: HostedChain

  init(_ chain: HostedChain) { self.chain = chain }

  /// - Parameters:
  ///   - list: The list of the manifest with the stages.
  ///   - rules: `rules` of the manifest.
  init(
    _ plugin: String, _ entries: [Entry], list: String = "graphql", rules: String = "", replacing: TrialChain? = nil
  ) throws {
    let lines = entries.map {
      "  - {name: \($0.name), file: \(plugin), config: {do: \($0.action)}, isolation: \($0.isolation)\($0.extra)}"
    }
    let names = entries.map(\.name).joined(separator: ", ")
    let http = list == "http" ? "[\(names), response-code]" : "[response-code]"
    let text = """
      carabiner: 1
      plugins:
      \(lines.joined(separator: "\n"))
      chain: {graphql: [\(list == "graphql" ? names : "")], cache: [], http: \(http)}
      \(rules)
      """
    chain = try HostedChain(Manifest(text: text), replacing: replacing?.chain)
  }

  /// Compiles the plugin.
  ///
  /// - Parameter gate: The file for which some actions wait.
  static func compile(
    into folder: FixturePlugin.Folder, gate: URL? = nil, defining definitions: [String] = []
  ) async throws -> String {
    try await FixturePlugin.compile(
      at: "\(Repository.root.path)/Tests/Fixtures/Workers/trial.c",
      defining: definitions + (gate.map { ["GATE=\"\($0.path)\""] } ?? []), into: folder)
  }

  /// The name in the only result of a call, or the count of Tests/Fixtures/Plugins/state.c.
  func result(operation: String? = nil, of answer: String = serverAnswer) async throws -> String? {
    guard let url = URL(string: "http://127.0.0.1:1/graphql") else { return nil }
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: chain, endpointURL: url, httpTransport: Transport(body: Data(answer.utf8))))
    let document = "query \(operation ?? "Q") { hero { name } }"
    var text: String?
    for try await response in try client.results(
      of: DynamicOperation(document: document, operationName: operation ?? "Q"), cachePolicy: .networkOnly)
    {
      let data = try response.data
      text = data?["hero"]?["name"]?.string ?? data?["count"]?.description
    }
    return text
  }

  /// The error of a call; nil if it succeeds.
  func failure(operation: String? = nil, of answer: String = serverAnswer) async -> PluginError? {
    do {
      _ = try await result(operation: operation, of: answer)
      return nil
    } catch {
      return error as? PluginError
    }
  }

  /// The number of hooks that are in the workers.
  var underWay: Int { chain.workers().reduce(0) { $0 + $1.underWay } }

  /// The process of the first worker; 0 if none runs.
  var process: Int32 { chain.workers().first?.process ?? 0 }

  /// Waits until another process of the first worker runs.
  func next(after process: Int32) async throws {
    for _ in 0..<6000 {
      if let worker = chain.workers().first, worker.condition == .up, let next = worker.process, next != process { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NoOtherProcess(workers: chain.workers())
  }

  /// Waits until a condition holds, at most a minute.
  static func waits(for condition: () throws -> Bool) async throws -> Bool {
    await eventually(within: .seconds(60), condition)
  }
}
