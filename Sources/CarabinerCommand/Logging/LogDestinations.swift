/// The files of the log and of the access log.
struct LogDestinations: Sendable {
  /// The destination of all lines but those of the access log. They are written at once.
  let log: LogFile
  /// The destination of the access log, whose lines are written in batches.
  let access: LineWriter

  /// Everything on standard error.
  static let standardError = LogDestinations(log: .standardError, access: LineWriter(.standardError))

  /// - Parameters:
  ///   - log: The path of the log; nil for standard error.
  ///   - access: The path of the access log; nil for the file of the log.
  /// - Throws: ``LogFile/CannotOpen``.
  init(log: String?, access: String?) throws(LogFile.CannotOpen) {
    self.log = if let log { try LogFile(path: log) } else { .standardError }
    // Two descriptors of one file would reopen it twice.
    let file = if let access, access != log { try LogFile(path: access) } else { self.log }
    self.access = LineWriter(file)
  }

  private init(log: LogFile, access: LineWriter) {
    self.log = log
    self.access = access
  }

  private var files: [LogFile] { access.file === log ? [log] : [log, access.file] }

  /// The number of lines that were dropped or could not be written.
  var lostLines: Int { access.leftOut + files.reduce(0) { $0 + $1.lostLines } }

  /// Opens all files again, and returns the errors. A file that cannot be opened again stays in use.
  func reopen() -> [LogFile.CannotOpen] {
    files.compactMap { file in
      do throws(LogFile.CannotOpen) {
        try file.reopen()
        return nil
      } catch {
        return error
      }
    }
  }
}
