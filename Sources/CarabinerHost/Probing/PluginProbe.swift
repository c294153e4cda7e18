internal import CarabinerBridge
package import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// Loads a plugin or parts of a manifest in a child process, so that a crash does not affect this process.
package struct PluginProbe {
  /// The last line of a child's report. A report without it is invalid.
  package static let endRecord = "carabiner-probe-end"

  private let arguments: [String]
  private let subject: String
  private let staging: StagedCopy.Mode
  private let timeout: Duration
  private let executable: String

  /// The program of this process, which is `carabiner` when a command requests a probe.
  package static let ownExecutable = "/proc/self/exe"

  /// Probes a single plugin file.
  package init(_ plugin: String, timeout: Duration) {
    self.init(["--plugin", plugin], nil, plugin, StagedCopy.defaultMode, timeout, Self.ownExecutable)
  }

  /// Probes one plugin of a manifest, with its pin and its configuration.
  ///
  /// - Parameters:
  ///   - executable: The `carabiner` program for the child process.
  ///   - pins: The digests of the files that were verified; nil if signatures are not checked.
  ///   - downloads: The folder with the files of plugins that have URLs; nil if there are none.
  package init(
    _ manifest: Manifest, at path: String, plugin: Manifest.Plugin, timeout: Duration, executable: String = Self.ownExecutable,
    pins: ProbePins? = nil, downloads: String? = nil
  ) {
    let subject = if case .file(let path, _) = plugin.source { path } else { plugin.name }
    let arguments = ["--manifest", path, "--only", plugin.name] + Self.arguments(downloads)
    self.init(arguments, pins, subject, manifest.settings.staging, timeout, executable)
  }

  /// Probes a manifest without some of its plugins.
  ///
  /// - Parameters:
  ///   - pins: The digests of the files that were verified; nil if signatures are not checked.
  ///   - downloads: The folder with the files of plugins that have URLs; nil if there are none.
  package init(
    _ manifest: Manifest, at path: String, without names: [String], timeout: Duration, pins: ProbePins? = nil,
    downloads: String? = nil
  ) {
    let arguments = ["--manifest", path] + names.flatMap { ["--without", $0] } + Self.arguments(downloads)
    self.init(arguments, pins, path, manifest.settings.staging, timeout, Self.ownExecutable)
  }

  private init(
    _ arguments: [String], _ pins: ProbePins?, _ subject: String, _ staging: StagedCopy.Mode, _ timeout: Duration,
    _ executable: String
  ) {
    self.arguments = ["probe", "--parent", "\(getpid())"] + arguments + (pins?.arguments ?? [])
    self.subject = subject
    self.staging = staging
    self.timeout = timeout
    self.executable = executable
  }

  private static func arguments(_ downloads: String?) -> [String] { downloads.map { ["--plugin-cache", $0] } ?? [] }

  /// Runs the child and returns its report. A child that crashes or hangs is reported as a refusal.
  package func report() -> ProbeReport {
    do {
      // A child that crashes leaves copies in the staging folder, so it gets one of its own, which is removed afterwards.
      let folder = staging == .directory ? try Self.makeStagingFolder() : nil
      defer { if let folder { try? FileManager.default.removeItem(at: folder) } }
      var environment = ProcessInfo.processInfo.environment
      if let folder { environment["XDG_RUNTIME_DIR"] = folder.path }
      // The child's backtrace is not used, and printing it takes seconds.
      environment["SWIFT_BACKTRACE"] = "enable=no"
      let outcome = try WatchedProcess.run(
        executable, arguments, .init(environment: environment.map { "\($0)=\($1)" }), timeout: timeout)
      return report(outcome)
    } catch {
      return refusal(.openFailed, "it cannot be loaded in a child process: \(error)")
    }
  }

  /// Creates a folder for this user only, next to the host's own.
  private static func makeStagingFolder() throws -> URL {
    let parent = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/tmp"
    let folder = URL(filePath: parent, directoryHint: .isDirectory).appending(path: "carabiner-probe-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    return folder
  }

  private func report(_ outcome: WatchedProcess.Outcome) -> ProbeReport {
    switch outcome.end {
    case .timeout, .stopped, .crowd, .flood:
      return refusal(
        .entryRefused,
        "loading it did not end within \(DurationText.print(timeout)) and was killed; ask the plugin's author, or allow more time "
          + "with --probe-timeout")
    case .signal(let signal):
      return refusal(
        .entryRefused,
        unsafe "loading it crashed with signal \(signal) (\(String(cString: strsignal(signal)))); ask the plugin's author")
    case .exit(let status):
      let lines = outcome.output.split(separator: "\n")
      guard lines.last == Substring(Self.endRecord), let line = lines.dropLast().last,
        let json = try? JSONValue(parsing: String(line)), let report = ProbeReport(json)
      else {
        return refusal(
          .entryRefused,
          "loading it ended the process with status \(status) and without a report: \(outcome.errors.prefix(500))")
      }
      return report
    }
  }

  private func refusal(_ code: HostError.Code, _ message: String) -> ProbeReport {
    var report = ProbeReport()
    report.refusal = HostError(code, step: "probe", path: subject, message)
    return report
  }
}
