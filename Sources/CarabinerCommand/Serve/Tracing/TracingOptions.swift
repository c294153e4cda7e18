internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerTracing
internal import Foundation
internal import Logging

/// Options for the export of traces. A change needs a restart.
struct TracingOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Send traces to an OTLP/HTTP collector, such as http://127.0.0.1:4318. It overrides OTEL_EXPORTER_OTLP_ENDPOINT.",
      discussion: "OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and similar variables are used.",
      valueName: "url")
  )
  var otlp: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The percentage of the requests without traceparent that are traced, such as 1%. It overrides OTEL_TRACES_SAMPLER_ARG. With "
        + "traceparent, the client decides.", valueName: "share"), transform: share)
  var traceShare: Double?

  /// The exporter of traces; nil if no collector is configured.
  func export(_ logger: Logger) throws -> TraceExport? {
    do {
      let settings = try OTLPSettings(
        base: otlp, share: traceShare, environment: ProcessInfo.processInfo.environment,
        warn: { Terminal.complain("warning: \($0)") })
      guard let settings else {
        if traceShare != nil { throw usageError("--trace-share needs a collector: give --otlp URL") }
        return nil
      }
      return try TraceExport(settings, logger, redact: Terminal.redacted)
    } catch let error as TracingError {
      throw usageError("\(error)")
    }
  }
}

/// A share such as 1% or 0.01, as a fraction.
private func share(_ text: String) throws -> Double {
  let share = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
  guard let share, (0...1).contains(share) else { throw ValidationError("a share is a number from 0% to 100%, as 1%") }
  return share
}
