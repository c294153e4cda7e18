internal import CarabinerGateway

/// The metrics of a running gateway and its host.
///
/// Label values are statuses, names from the manifest and the configuration, and fixed words. No client chooses them.
struct ServerMetrics: Sendable {
  let host: HostMetrics
  let operations: OperationService
  let gateway: GatewayMetrics
  /// The exporter of traces; nil if traces are not exported.
  let traces: TraceExport?
  /// The servers of the gateway.
  let listeners: Listeners
  /// The unsent bytes of responses and messages of all connections.
  let unsent: UnsentTotal
  /// Returns the number of log lines that could not be written; nil if it is not known.
  let lostLogLines: (@Sendable () -> Int)?

  /// All metrics in Prometheus' text format.
  var text: String {
    var text = PrometheusText()
    write(to: &text)
    host.write(to: &text)
    ProcessMetrics.writeBuild(to: &text)
    ProcessMetrics.current?.write(to: &text)
    return text.text
  }

  /// Adds the metrics of the gateway to a sink, without those of the host and the process.
  func write(to sink: inout some MetricSink) {
    gateway.write(to: &sink)
    writeLoad(&sink)
    writeLog(&sink)
    traces?.write(to: &sink)
    writeCertificate(&sink)
  }

  private func writeLoad(_ text: inout some MetricSink) {
    let load = operations.load
    text.single("carabiner_operations_running", .gauge, "Operations in progress.", load.running)
    text.single("carabiner_operations_waiting", .gauge, "Operations that wait to start.", load.waiting)
    text.single("carabiner_connections", .gauge, "Open connections of clients.", listeners.connectionCount)
    text.single(
      "carabiner_unsent_bytes", .gauge, "Bytes of responses and WebSocket messages that wait for their clients.", unsent.waiting)
  }

  private func writeLog(_ text: inout some MetricSink) {
    guard let lostLogLines else { return }
    text.single(
      "carabiner_log_lines_lost_total", .counter,
      "Lines of the log and the access log that were dropped because too many waited, or that could not be written.",
      lostLogLines())
  }

  private func writeCertificate(_ text: inout some MetricSink) {
    let listeners = listeners.clients.filter(\.hasTLS)
    guard !listeners.isEmpty else { return }
    let name = "carabiner_tls_certificate_expiry_timestamp_seconds"
    text.family(name, .gauge, "When a certificate of new TLS connections expires, per listener and file.")
    for listener in listeners {
      for certificate in listener.settings.certificates {
        text.sample(name, [("listener", listener.name), ("name", certificate.path)], Double(certificate.expiry))
      }
    }
    text.family("carabiner_tls_reload_failures_total", .counter, "Changed certificates or keys that could not be used.")
    // The same file may be used in several ways.
    var failures: [String: Int] = [:]
    for certificate in listeners.flatMap(\.settings.certificates) {
      failures[certificate.path] = max(failures[certificate.path] ?? 0, certificate.failureCount)
    }
    for (path, count) in failures.sorted(by: { $0.key < $1.key }) {
      text.sample("carabiner_tls_reload_failures_total", [("name", path)], Double(count))
    }
  }
}
