internal import CLinux
internal import CarabinerGateway
internal import Foundation

/// Figures of this process from the system, under the names of Prometheus' client libraries.
struct ProcessMetrics: Sendable {
  private let cpuSeconds: Double
  private let residentBytes: Double
  private let startSeconds: Double
  private let openDescriptors: Int

  /// The current figures; nil if they cannot be read.
  static var current: ProcessMetrics? {
    // The program name, in parentheses, may contain any characters, so the fields are read from after the last parenthesis.
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8), let end = stat.lastIndex(of: ")") else {
      return nil
    }
    let fields = stat[end...].split(separator: " ").dropFirst().map { Double($0) ?? 0 }
    // Starts with the third field; see proc(5): utime is the 14th, stime the 15th, starttime the 22nd, rss the 24th.
    guard fields.count > 21 else { return nil }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return ProcessMetrics(
      cpuSeconds: (fields[11] + fields[12]) / ticks, residentBytes: fields[21] * Double(sysconf(Int32(_SC_PAGESIZE))),
      startSeconds: bootSeconds + fields[19] / ticks, openDescriptors: descriptors)
  }

  /// The time of the system's start, from the clocks: a service of systemd with `ProcSubset=pid` has no /proc/stat.
  private static let bootSeconds = CLinux_seconds(CLOCK_REALTIME) - CLinux_seconds(CLOCK_BOOTTIME)

  /// Appends the commit and the Swift version that the program was built from.
  static func writeBuild(to text: inout some MetricSink) {
    text.family("carabiner_build_info", .gauge, "The version that runs.")
    text.sample(
      "carabiner_build_info",
      [("version", ServerVersion.text), ("commit", ServerVersion.commit), ("swift", ServerVersion.swift)], 1)
  }

  /// Appends the metrics to a text.
  func write(to text: inout some MetricSink) {
    func family(_ name: String, _ kind: MetricKind, _ help: String, _ value: Double) {
      text.family(name, kind, help)
      text.sample(name, [], value)
    }
    family("process_cpu_seconds_total", .counter, "CPU time this process has taken.", cpuSeconds)
    family("process_resident_memory_bytes", .gauge, "Memory this process has in use.", residentBytes)
    family("process_start_time_seconds", .gauge, "When this process began, in seconds since 1970.", startSeconds)
    family("process_open_fds", .gauge, "Descriptors this process has open.", Double(openDescriptors))
  }
}
