internal import Carabiner
internal import CarabinerCurl
internal import CarabinerHost
package import CarabinerManifest
internal import CarabinerWire
internal import Foundation
internal import Logging

/// Runs the operations of a record through a manifest. The recorded responses of the upstream answer the requests; nothing is sent.
package struct ReplayRun: Sendable {
  /// How long a line of a record may be, 64 MiB.
  package static let maximumLineBytes = 64 << 20
  /// The endpoint if the manifest names none; nothing is sent there.
  private static let nowhere = "http://recorded.invalid/graphql"

  private let path: String
  private let ignoredHeaders: Set<String>
  private let comparesRequests: Bool
  private let maximumShown: Int

  /// - Parameters:
  ///   - path: The record.
  ///   - ignoredHeaders: The headers of requests that may differ.
  ///   - comparesRequests: Whether requests to the upstream are compared too.
  ///   - maximumShown: How many differences are shown in full.
  package init(record path: String, ignoredHeaders: [String], comparesRequests: Bool, maximumShown: Int) {
    self.path = path
    self.ignoredHeaders = Set(ignoredHeaders.map { $0.lowercased() })
    self.comparesRequests = comparesRequests
    self.maximumShown = maximumShown
  }

  /// Runs all operations of the record through a manifest.
  ///
  /// - Parameters:
  ///   - secrets: Gets the secrets of the manifest.
  ///   - warning: Gets warnings for the operator.
  /// - Throws: ``ServerError`` if the manifest or the record is refused.
  package func report(
    _ manifest: Manifest, hiding secrets: SecretRegister, warning: @escaping @Sendable (String) -> Void
  ) async throws -> ReplayReport {
    let host = try ChainRuntime(
      manifest: manifest, endpoint: nil, headers: [:], wire: WireChoice(), timeout: nil,
      output: HostOutput(logger: Logger(label: "carabiner.replay"), secrets: secrets, warning: warning),
      fallbackEndpoint: Self.nowhere, passesGraphQLErrors: true, sending: { ScopedTransport(base: $0) },
      // What plugins ask for on their own was not recorded, and must not reach anybody.
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

/// Sends nothing.
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
        ManifestProblem(.syntax, "line \(line) is no recorded operation; give a file that carabiner serve --record wrote")
      ])
  }
}
