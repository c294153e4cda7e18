internal import ArgumentParser
internal import Carabiner
internal import CarabinerCurl
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// `carabiner replay`: recorded operations through another manifest, without a network.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Run recorded operations through another manifest, and show what comes out differently.",
    discussion: """
      FILE is what carabiner serve --record wrote. Each operation runs through the chain of the manifest, and its requests are answered
      with what the upstream answered then; no network is used, and plugins that fetch on their own get no answer. Shown are results
      that differ, and with --requests also requests to the upstream that do.

      Exit status: 0 if nothing differs, 1 if something does, 2 usage, 3 if the manifest or the record is refused.

      Example: carabiner replay traffic.jsonl -m next.yaml
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  /// How long a line of a record may be, 64 MiB.
  static let maximumLineBytes = 64 << 20

  @OptionGroup var source: ManifestOptions

  @Flag(name: .long, help: "Compare what is sent to the upstream too.")
  var requests = false

  @Option(
    name: .long, parsing: .upToNextOption,
    help: "Request fields that may differ; those that do each time anyway, such as date, and those the record does not tell.")
  var ignoreHeader: [String] = ["date", "x-timestamp", "x-request-id", "traceparent", "tracestate"]

  @Option(name: .long, help: "How many differences are shown in full.")
  var show = 20

  @Option(name: .long, help: "text or json.") var format: Format = .text

  @Argument(help: "The record.") var file: String

  func run() async throws {
    do {
      let report = try await replay()
      switch format {
      case .text: Terminal.emit(report.text)
      case .json: Terminal.emit(String(decoding: report.json.serialized(pretty: true), as: UTF8.self))
      }
      if !report.isSame { throw ExitStatus.graphQLErrors }
    } catch let status as ExitStatus {
      throw status
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitStatus(error)
    }
  }

  private func replay() async throws -> ReplayReport {
    let host = try RunHost(
      manifest: try source.manifest(), endpoint: nil, headers: [:], wire: WireChoice(), timeout: nil,
      fallbackEndpoint: Self.nowhere, passesGraphQLErrors: true,
      sending: { ScopedTransport(base: $0) },
      // What plugins ask for on their own was not recorded, and must not reach anybody.
      fetching: { _ in ClosedTransport() })
    let ignored = Set(ignoreHeader.map { $0.lowercased() })
    var report = ReplayReport(maximumShown: show)
    for try await (number, line) in RecordLines(path: file, maximumLineBytes: Self.maximumLineBytes) {
      guard let json = try? JSONValue(parsing: line), let recorded = RecordedOperation(json) else {
        throw ManifestError.unreadableRecord(file, line: number)
      }
      let comparison = ReplayComparison(recorded, host: host, ignoredHeaders: ignored, comparesRequests: requests)
      report.add(await Task(executorPreference: host.transport.loop) { await comparison.run() }.value, line: number)
    }
    return report
  }

  /// Stands for the endpoint where the manifest leaves it to the command line; nothing is sent there.
  private static let nowhere = "http://recorded.invalid/graphql"
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
