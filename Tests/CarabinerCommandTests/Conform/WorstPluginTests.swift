import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A plugin cannot harm the harness or the machine.
@Suite("The worst plugins", .serialized)
struct WorstPluginTests {
  @Test("no plugin leaves a process or a file behind, or exhausts the harness")
  func harmless() async throws {
    let mark = "carabiner-worst-\(UUID().uuidString)"
    let folder = try FixturePlugin.Folder()
    let scratch = try FixturePlugin.Folder()
    var paths: [String] = []
    // Plugins that do not end get a short time limit. Those that pass or crash get a longer one, because a busy machine takes its time.
    let ends: Set = ["PASS", "CRASH"]
    let plugins = WorstPlugin.all.filter { !ends.contains($0.status) } + WorstPlugin.all.filter { ends.contains($0.status) }
    let hastyCount = plugins.count { !ends.contains($0.status) }
    for plugin in plugins { paths.append(try await plugin.build(into: folder, mark: mark)) }
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(WorstPlugin.all.count >= 30)

    var reports: [JSONValue] = []
    var peak = 0
    for (timeScale, part) in [("0.05", paths.prefix(hastyCount)), ("10", paths.dropFirst(hastyCount))] {
      let memory = MemoryWatch()
      let run = try await CommandRun(
        ["conform"] + ["--check", BadPlugin.isLong ? "LD,DS,LC,PR,SE01" : "SE01,LC09"] + [
          "--effort", "0.05", "--time-scale", timeScale, "--format", "json",
        ] + part,
        environment: ["XDG_RUNTIME_DIR": scratch.url.path], meanwhile: { memory.watch($0) })
      let more = try JSONValue(parsing: run.output)["plugins"]?.array ?? []
      #expect(more.count == part.count, "\(run.errors)")
      #expect(timeScale == "10" || run.status == 1)
      #expect(memory.peak > 0, "the memory of the harness was not measured")
      peak = max(peak, memory.peak)
      reports += more
    }
    for (plugin, report) in zip(plugins, reports) {
      let checks = report["checks"]?.array ?? []
      #expect(!checks.isEmpty && checks.allSatisfy { $0["status"]?.string != "HARNESS_ERROR" }, "\(plugin.name): \(checks)")
      // With short time limits, other checks can end differently. The check that runs the statement does not.
      let own = checks.first { $0["id"]?.string == plugin.check }
      #expect(own?["status"]?.string == plugin.status, "\(plugin.name): \(own ?? .null)")
      #expect(plugin.detail.isEmpty || own?["detail"]?.string?.contains(plugin.detail) == true, "\(plugin.name): \(own ?? .null)")
    }

    #expect(peak < 100 << 20, "the harness took \(peak >> 20) MiB")
    #expect(Self.processes(of: [mark, scratch.url.path]) == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == before)
    for place in ["/tmp", "/var/tmp", "/dev/shm", "/", "/root", FileManager.default.currentDirectoryPath] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
      #expect(names.filter { $0.contains(mark) } == [], "in \(place)")
    }
    BadPlugin.say("\(reports.count) of the worst plugins; the harness had \(peak >> 10) KiB at most")
  }

  /// The processes whose arguments, environment or working directory contain one of these texts.
  private static func processes(of texts: [String]) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.filter { Int32($0) != nil && $0 != "\(getpid())" }.filter { process in
      let words = ["cmdline", "environ"].compactMap { FileManager.default.contents(atPath: "/proc/\(process)/\($0)") }
      let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")
      let all = words.map { String(decoding: $0, as: UTF8.self) } + [folder ?? ""]
      return all.contains { text in texts.contains { text.contains($0) } }
    }
  }
}

/// The peak memory of a process, which the kernel keeps until the process ends.
private final class MemoryWatch: @unchecked Sendable {
  // Written by the watching thread, and read after that thread has ended.

  private let done = DispatchSemaphore(value: 0)
  private var most = 0

  /// Watches a process until it ends, on a separate thread.
  func watch(_ process: Int32) {
    Thread.detachNewThread { [self] in
      defer { done.signal() }
      while let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) {
        // Before exec, the process is a copy of this one. While it exits, it has no memory any more.
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        if program?.hasSuffix("/carabiner") == true, let line {
          most = max(most, (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10)
        }
        if status.contains("State:\tZ") { return }
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
  }

  /// In bytes. Read it only after the process has ended.
  var peak: Int {
    done.wait()
    defer { done.signal() }
    return most
  }
}
