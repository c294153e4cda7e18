internal import Carabiner
internal import FoundationEssentials

extension OTLPSettings {
  /// The settings of the command line and of OpenTelemetry's variables; nil if traces are not requested.
  ///
  /// - Parameters:
  ///   - base: The URL of the collector without the path, from the command line. It overrides the environment.
  ///   - share: The share of traces that are recorded, for traces that start here, from the command line.
  ///   - warn: Called with a message for each malformed variable, which is ignored, as OpenTelemetry requires.
  /// - Throws: ``TracingError`` if the settings cannot be used.
  package init?(
    base: String?, share: Double?, environment: [String: String], warn: @escaping (String) -> Void
  ) throws(TracingError) {
    let variables = OTLPVariables(environment, warn: warn)
    guard let endpoint = try Self.endpoint(base, variables) else { return nil }
    self.init(endpoint: endpoint)
    for (name, value) in variables.pairs("HEADERS") { headers.add(name: name, value: value) }
    resource = variables.resource
    sampler = variables.sampler(share: share)
    certificateAuthorityFile = variables.exporter("CERTIFICATE")
    clientCertificateFile = variables.exporter("CLIENT_CERTIFICATE")
    clientKeyFile = variables.exporter("CLIENT_KEY")
    if let milliseconds = variables.exporter("TIMEOUT").flatMap({ variables.number("OTEL_EXPORTER_OTLP_TIMEOUT", $0) }) {
      timeout = Double(milliseconds) / 1000
    }
    maximumQueue = variables.number("OTEL_BSP_MAX_QUEUE_SIZE") ?? maximumQueue
    maximumBatch = min(variables.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE") ?? maximumBatch, maximumQueue)
    if let milliseconds = variables.number("OTEL_BSP_SCHEDULE_DELAY") { interval = .milliseconds(milliseconds) }
    maximumAttributeBytes =
      variables.number("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT") ?? variables.number("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")
      ?? maximumAttributeBytes
  }

  private static func endpoint(_ base: String?, _ variables: OTLPVariables) throws(TracingError) -> URL? {
    let (text, name): (String, String)
    if let base {
      (text, name) = (Self.traces(base), "--otlp")
    } else {
      guard !variables.isOff else { return nil }
      if let whole = variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
        (text, name) = (whole, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
      } else if let base = variables["OTEL_EXPORTER_OTLP_ENDPOINT"] {
        (text, name) = (Self.traces(base), "OTEL_EXPORTER_OTLP_ENDPOINT")
      } else {
        return nil
      }
      if let asked = variables.exporter("PROTOCOL"), asked == "grpc" {
        throw TracingError(
          message:
            "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but traces are sent as JSON over HTTP; set it to http/json and "
            + "\(name) to the HTTP port of the collector, usually 4318")
      }
    }
    guard let url = URL(string: text), url.host() != nil, ["http", "https"].contains(url.scheme?.lowercased()) else {
      throw TracingError(message: "\(name) takes the http or https URL of a collector, as in http://127.0.0.1:4318")
    }
    return url
  }

  /// The URL for traces of a collector.
  private static func traces(_ base: String) -> String { base.hasSuffix("/") ? "\(base)v1/traces" : "\(base)/v1/traces" }
}
