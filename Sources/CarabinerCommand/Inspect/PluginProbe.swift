internal import CarabinerHost
internal import CarabinerWire
internal import Foundation

/// Loads a plugin, or a whole manifest, in a child process: whatever happens there does not happen here.
struct PluginProbe {
  /// Seconds a child may take.
  static let timeout = 20.0
  /// The line that ends a child's report; without it the report is not believed.
  static let endRecord = "carabiner-probe-end"

  private let arguments: [String]
  private let subject: String

  init(_ plugin: String) {
    arguments = ["probe", "--plugin", plugin]
    subject = plugin
  }

  init(manifest: String) {
    arguments = ["probe", "--manifest", manifest]
    subject = manifest
  }

  /// What the child found.
  ///
  /// - Throws: ``CarabinerHost/LoadRefusal`` with what the child refused, or how it died.
  func report() throws -> JSONObject {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw refusal(.openFailed, "the child process cannot be started: \(error)")
    }
    let watchdog = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.timeout, execute: watchdog)
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    watchdog.cancel()
    if process.terminationReason == .uncaughtSignal {
      let signal = process.terminationStatus
      throw refusal(
        .entryRefused,
        signal == SIGKILL
          ? "loading it did not end within \(Self.timeout) s and was killed; ask the plugin's author"
          : unsafe "loading it crashed with signal \(signal) (\(String(cString: strsignal(signal)))); ask the plugin's author")
    }
    let lines = text.split(separator: "\n")
    guard lines.last == Substring(Self.endRecord), let first = lines.dropLast().last,
      case .object(let report)? = try? JSONValue(parsing: String(first))
    else {
      throw refusal(
        .entryRefused,
        "loading it ended the process with status \(process.terminationStatus) and without a report: \(complaint.prefix(500))")
    }
    if let message = report["refused"]?.string { throw ProbeRefusal(description: message) }
    return report
  }

  func check() throws { _ = try report() }

  private func refusal(_ code: LoadRefusal.Code, _ message: String) -> LoadRefusal {
    LoadRefusal(code, step: "probe", path: subject, message)
  }
}

/// What a child refused, in its own words.
struct ProbeRefusal: Error, CustomStringConvertible {
  let description: String
}
