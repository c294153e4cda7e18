internal import Carabiner
internal import CarabinerBridge
internal import CarabinerCurl
package import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import Logging

/// Runs the operations of a record through a manifest. Requests are answered with the recorded responses of the upstream; nothing
/// is sent.
package struct ReplayRun: Sendable {
  /// The maximum length of a line of a record: 64 MiB.
  package static let maximumLineBytes = 64 << 20
  /// The endpoint if the manifest has none. Nothing is sent there.
  private static let nowhere = "http://recorded.invalid/graphql"

  private let path: String
  private let ignoredHeaders: Set<String>
  private let comparesRequests: Bool
  private let maximumShown: Int

  /// - Parameters:
  ///   - path: The path of the record.
  ///   - ignoredHeaders: The headers of requests that may differ.
  ///   - comparesRequests: Whether requests to the upstream are compared too.
  ///   - maximumShown: The number of differences that are shown in full.
  package init(record path: String, ignoredHeaders: [String], comparesRequests: Bool, maximumShown: Int) {
    self.path = path
    self.ignoredHeaders = Set(ignoredHeaders.map { $0.lowercased() })
    self.comparesRequests = comparesRequests
    self.maximumShown = maximumShown
  }

  /// Runs all operations of the record through a manifest.
  ///
  /// - Parameters:
  ///   - secrets: Collects the secrets of the manifest.
  ///   - warning: Called with warnings for the operator.
  /// - Throws: ``ServerError`` if the manifest or the record is refused.
  package func report(
    _ manifest: Manifest, hiding secrets: SecretRegister, warning: @escaping @Sendable (String) -> Void
  ) async throws -> ReplayReport {
    try manifest.requireGraphQL("replay runs GraphQL operations, and there is no replay of other calls")
    let host = try ChainRuntime(
      manifest: manifest, endpoint: nil, headers: [:], wire: WireChoice(), timeout: nil,
      output: HostOutput(logger: Logger(label: "carabiner.replay"), secrets: secrets, warning: warning),
      fallbackEndpoint: Self.nowhere, passesGraphQLErrors: true, sending: { base, _ in ScopedTransport(base: base) },
      // Requests of plugins are not recorded, and must not be sent.
      fetching: { _ in ClosedTransport() })
    var report = ReplayReport(maximumShown: maximumShown)
    for try await (number, line) in RecordLines(path: path, maximumLineBytes: Self.maximumLineBytes) {
      guard let json = try? JSONValue(parsing: line), let recorded = RecordedOperation(json) else {
        throw ManifestError.unreadableRecord(path, line: number)
      }
      let comparison = ReplayComparison(
        recorded, host: host, ignoredHeaders: ignoredHeaders, comparesRequests: comparesRequests)
      report.add(await Task(executorPreference: host.transport.loop) { await comparison.run() }.value, line: number)
    }
    return report
  }
}

/// A transport that fails all requests.
private struct ClosedTransport: HTTPTransport {
  func send(_ request: URLRequest) async throws -> HTTPResponse {
    throw TransportError(
      .cannotConnect, "nothing is sent while a record is replayed", url: request.url.absoluteString)
  }
}

extension ManifestError {
  fileprivate static func unreadableRecord(_ path: String, line: Int) -> ManifestError {
    ManifestError(
      path: path,
      problems: [
        ManifestProblem(.syntax, "line \(line) is not a recorded operation; give a file that carabiner serve --record wrote")
      ])
  }
}
