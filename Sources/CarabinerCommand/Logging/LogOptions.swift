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

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Append the log to a file instead of standard error. SIGUSR1 opens it again, so that it can be renamed before.",
      valueName: "file"))
  var logFile: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Append the access log to a file of its own, as --log-file. It implies --access-log.", valueName: "file"))
  var accessLogFile: String?

  /// The logger for requests; nil without `--access-log`.
  var accessLogger: Logger? { accessLog || accessLogFile != nil ? Logger(label: LineLogHandler.accessLabel) : nil }

  /// Sets the format and the files of all loggers.
  ///
  /// - Throws: A usage error if a file cannot be opened.
  func begin() throws {
    LineLogHandler.use(logFormat)
    do {
      LineLogHandler.destinations = try LogDestinations(log: logFile, access: accessLogFile)
    } catch {
      throw usageError("\(error); --log-file and --access-log-file take files in folders that may be written")
    }
  }

  /// Opens the files again, after they were renamed. A file that cannot be opened again stays in use.
  static func reopen(_ logger: Logger) {
    for failure in LineLogHandler.destinations.reopen() {
      logger.error("\(failure); the old file is used on; send SIGUSR1 again when the path can be written")
    }
  }

  /// Waits until all lines are written, and reports dropped ones.
  func finish() {
    let leftOut = LineLogHandler.finish()
    if leftOut > 0 { Terminal.complain("warning: \(leftOut) requests are not in the log because its reader is too slow") }
  }
}
