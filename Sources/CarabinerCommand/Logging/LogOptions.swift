internal import ArgumentParser
internal import Logging

/// Options for the log of a service.
struct LogOptions: ParsableArguments {
  @Option(name: .long, help: "The format of log lines, text or json. The variable CARABINER_LOG sets the level.")
  var logFormat: LogFormat = .text

  @Flag(
    name: .long,
    help: "Log every request: id, client, operation, status, time, generation, and the plugin that made it fail, if any.")
  var accessLog = false

  /// The logger for requests; nil without `--access-log`.
  var accessLogger: Logger? { accessLog ? Logger(label: LineLogHandler.accessLabel) : nil }

  /// Waits until all lines are written, and reports dropped ones.
  func finish() {
    let leftOut = LineLogHandler.finish()
    if leftOut > 0 { Terminal.complain("warning: \(leftOut) requests are not in the log because its reader is too slow") }
  }
}
