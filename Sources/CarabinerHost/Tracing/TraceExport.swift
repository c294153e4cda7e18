internal import CarabinerCurl
internal import CarabinerGateway
package import CarabinerTracing
package import Logging

/// Exports a gateway's traces to a collector, on a separate libcurl event loop, so that no request waits for it.
package struct TraceExport: Sendable {
  /// The time for exporting the last traces at the end.
  private static let lastMoments = Duration.seconds(5)

  let tracer: OTLPTracer
  private let exporter: OTLPExporter

  /// Starts the export.
  ///
  /// - Parameter redact: Replaces secrets in a text.
  package init(_ settings: OTLPSettings, _ logger: Logger, redact: @escaping @Sendable (String) -> String) throws {
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = settings.certificateAuthorityFile ?? WireChoice.environmentAuthorityFile()
    configuration.clientCertificateFile = settings.clientCertificateFile
    configuration.clientKeyFile = settings.clientKeyFile
    exporter = OTLPExporter(
      settings, version: ServerVersion.text, transport: try CurlTransport(configuration: configuration),
      note: { logger.warning("\(redact($0))") })
    tracer = OTLPTracer(sampler: settings.sampler, exporter: exporter)
    exporter.start()
  }

  /// Exports the remaining spans.
  package func shutDown() async { await exporter.shutDown(within: Self.lastMoments) }

  /// Appends the numbers of exported, dropped and failed spans.
  func write(to text: inout some MetricSink) {
    let counts = exporter.counts
    text.family("carabiner_trace_spans_total", .counter, "Spans of traces, by outcome.")
    text.sample("carabiner_trace_spans_total", [("outcome", "exported")], Double(counts.exported))
    text.sample("carabiner_trace_spans_total", [("outcome", "dropped")], Double(counts.dropped))
    text.sample("carabiner_trace_spans_total", [("outcome", "failed")], Double(counts.failed))
    text.single("carabiner_trace_spans_waiting", .gauge, "Spans that wait to be sent.", counts.waiting)
  }
}
