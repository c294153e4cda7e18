internal import ArgumentParser
internal import Logging

/// Options for the log of a service.
struct LogOptions: ParsableArguments {
  @Option(name: .long, help: "How lines of the log look, text or json; how much is said, the variable CARABINER_LOG decides.")
  var logFormat: LogFormat = .text

  @Flag(
    name: .long,
    help: "Log every request: its id, client, operation, status, time, generation, and the plugin it failed by, if one did.")
  var accessLog = false

  /// The logger for requests; nil without `--access-log`.
  var accessLogger: Logger? { accessLog ? Logger(label: LineLogHandler.accessLabel) : nil }

  /// Waits until all lines are written, and reports dropped ones.
  func finish() {
    let leftOut = LineLogHandler.finish()
    if leftOut > 0 { Terminal.complain("warning: \(leftOut) requests are not in the log: whoever reads it is too slow") }
  }
}
