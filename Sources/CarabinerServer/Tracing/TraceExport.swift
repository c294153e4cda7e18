internal import CarabinerCurl
internal import CarabinerGateway
package import CarabinerTracing
package import Logging

/// A gateway's traces on their way to a collector, over a libcurl loop of their own: no request waits behind them.
package struct TraceExport: Sendable {
  /// How long the last traces may take at the end.
  private static let lastMoments = Duration.seconds(5)

  let tracer: OTLPTracer
  private let exporter: OTLPExporter

  /// Begins to send.
  ///
  /// - Parameter redact: Takes out of a text what the log must not hold.
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

  /// Sends what waits.
  package func shutDown() async { await exporter.shutDown(within: Self.lastMoments) }

  /// What became of the spans so far.
  func write(to text: inout PrometheusText) {
    let counts = exporter.counts
    text.family("carabiner_trace_spans_total", .counter, "Spans of traces, by what became of them.")
    text.sample("carabiner_trace_spans_total", [("outcome", "exported")], Double(counts.exported))
    text.sample("carabiner_trace_spans_total", [("outcome", "dropped")], Double(counts.dropped))
    text.sample("carabiner_trace_spans_total", [("outcome", "failed")], Double(counts.failed))
    text.single("carabiner_trace_spans_waiting", .gauge, "Spans that wait to be sent.", counts.waiting)
  }
}
