internal import ArgumentParser
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerCurl
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// `carabiner replay`: runs recorded operations through another manifest, without a network.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Run recorded operations through another manifest, and show the differences.",
    discussion: """
      FILE is the output of carabiner serve --record. Each operation runs through the chain of the manifest, and its requests are
      answered with the recorded responses. The network is not used, so plugins that fetch get no response. The command shows results
      that differ, and with --requests also requests to the upstream that differ.

      Exit status: 0 if nothing differs, 1 if something does, 2 usage, 3 if the manifest or the record is refused.

      Example: carabiner replay traffic.jsonl -m next.yaml
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @OptionGroup var source: ManifestOptions
  @OptionGroup var trust: TrustOptions
  @OptionGroup var pluginCache: PluginCacheOptions

  @Flag(name: .long, help: "Also compare the requests to the upstream.")
  var requests = false

  @Option(
    name: .long, parsing: .upToNextOption,
    help: "Request headers that may differ, such as date, which changes each time, or headers that the record does not contain.")
  var ignoreHeader: [String] = ["date", "x-timestamp", "x-request-id", "traceparent", "tracestate"]

  @Option(name: .long, help: "The number of differences to show in full.")
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
    let run = ReplayRun(record: file, ignoredHeaders: ignoreHeader, comparesRequests: requests, maximumShown: show)
    let (manifest, downloaded) = try source.pinnedManifest(trusting: trust.policy, pluginCache.downloads)
    // The files must not be removed before the end.
    defer { withExtendedLifetime(downloaded) {} }
    return try await run.report(manifest, hiding: Terminal.secrets) { Terminal.complain("warning: \($0)") }
  }
}
