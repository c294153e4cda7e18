internal import ArgumentParser
internal import Carabiner
internal import CarabinerCurl
internal import CarabinerGateway
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerServer
internal import CarabinerWire
internal import Foundation

/// `carabiner replay`: runs recorded operations through another manifest, without a network.
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
    let run = ReplayRun(record: file, ignoredHeaders: ignoreHeader, comparesRequests: requests, maximumShown: show)
    return try await run.report(try source.manifest(), hiding: Terminal.secrets) { Terminal.complain("warning: \($0)") }
  }
}
