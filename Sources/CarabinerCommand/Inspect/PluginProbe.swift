internal import CarabinerHost
internal import CarabinerWire
internal import Foundation

/// Loads a plugin, or brings up part of a manifest, in a child process: whatever happens there does not happen here.
struct PluginProbe {
  /// The line that ends a child's report; without it the report is not believed.
  static let endRecord = "carabiner-probe-end"

  private let arguments: [String]
  private let subject: String
  private let timeout: Duration

  /// A plugin on its own.
  init(_ plugin: String, timeout: Duration) {
    self.init(["--plugin", plugin], plugin, timeout)
  }

  /// One plugin of a manifest, with its pin and its configuration.
  init(manifest: String, plugin: Manifest.Plugin, timeout: Duration) {
    let subject = if case .file(let path, _) = plugin.source { path } else { plugin.name }
    self.init(["--manifest", manifest, "--only", plugin.name], subject, timeout)
  }

  /// A whole manifest but for some plugins.
  init(manifest: String, without names: [String], timeout: Duration) {
    self.init(["--manifest", manifest] + names.flatMap { ["--without", $0] }, manifest, timeout)
  }

  private init(_ arguments: [String], _ subject: String, _ timeout: Duration) {
    self.arguments = ["probe"] + arguments
    self.subject = subject
    self.timeout = timeout
  }

  /// What the child found; a child that died or did not end is reported as a refusal.
  func report() -> ProbeReport {
    do {
      // A child that dies leaves its private copies behind, so it makes them in a folder that goes when it has ended.
      let staging = try Self.makeStagingFolder()
      defer { try? FileManager.default.removeItem(at: staging) }
      let environment = ProcessInfo.processInfo.environment.merging([
        "XDG_RUNTIME_DIR": staging.path,
        // Nobody looks at a child's stack, and drawing it takes seconds.
        "SWIFT_BACKTRACE": "enable=no",
      ]) { $1 }
      let outcome = try WatchedProcess.run(
        "/proc/self/exe", arguments, .init(environment: environment.map { "\($0)=\($1)" }), timeout: timeout)
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
