internal import CarabinerHost
package import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// Loads a plugin, or brings up part of a manifest, in a child process: whatever happens there does not happen here.
package struct PluginProbe {
  /// The line that ends a child's report; without it the report is not believed.
  package static let endRecord = "carabiner-probe-end"

  private let arguments: [String]
  private let subject: String
  private let staging: StagedCopy.Mode
  private let timeout: Duration
  private let executable: String

  /// The program of this process, which is a `carabiner` if its command line asks for a probe.
  package static let ownExecutable = "/proc/self/exe"

  /// A plugin on its own.
  package init(_ plugin: String, timeout: Duration) {
    self.init(["--plugin", plugin], plugin, StagedCopy.defaultMode, timeout, Self.ownExecutable)
  }

  /// One plugin of a manifest, with its pin and its configuration.
  ///
  /// - Parameter executable: The `carabiner` that runs in the child process.
  package init(
    _ manifest: Manifest, at path: String, plugin: Manifest.Plugin, timeout: Duration, executable: String = Self.ownExecutable
  ) {
    let subject = if case .file(let path, _) = plugin.source { path } else { plugin.name }
    self.init(["--manifest", path, "--only", plugin.name], subject, manifest.settings.staging, timeout, executable)
  }

  /// A whole manifest but for some plugins.
  package init(_ manifest: Manifest, at path: String, without names: [String], timeout: Duration) {
    let arguments = ["--manifest", path] + names.flatMap { ["--without", $0] }
    self.init(arguments, path, manifest.settings.staging, timeout, Self.ownExecutable)
  }

  private init(_ arguments: [String], _ subject: String, _ staging: StagedCopy.Mode, _ timeout: Duration, _ executable: String) {
    self.arguments = ["probe"] + arguments
    self.subject = subject
    self.staging = staging
    self.timeout = timeout
    self.executable = executable
  }

  /// What the child found; a child that died or did not end is reported as a refusal.
  package func report() -> ProbeReport {
    do {
      // A child that dies leaves copies in a folder behind, so it makes them in one that goes when it has ended.
      let folder = staging == .directory ? try Self.makeStagingFolder() : nil
      defer { if let folder { try? FileManager.default.removeItem(at: folder) } }
      var environment = ProcessInfo.processInfo.environment
      if let folder { environment["XDG_RUNTIME_DIR"] = folder.path }
      // Nobody looks at a child's stack, and drawing it takes seconds.
      environment["SWIFT_BACKTRACE"] = "enable=no"
      let outcome = try WatchedProcess.run(
        executable, arguments, .init(environment: environment.map { "\($0)=\($1)" }), timeout: timeout)
      return report(outcome)
    } catch {
      return refusal(.openFailed, "it cannot be looked at in a child process: \(error)")
    }
  }

  /// A folder for this user alone, where a host would make its own.
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

  private func refusal(_ code: LoadRefusal.Code, _ message: String) -> ProbeReport {
    var report = ProbeReport()
    report.refusal = LoadRefusal(code, step: "probe", path: subject, message)
    return report
  }
}
