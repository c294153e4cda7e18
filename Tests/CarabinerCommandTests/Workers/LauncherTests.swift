import Foundation
import Synchronization
import TestTools
import Testing

/// The launcher, and how it starts and ends a worker.
@Suite("The launcher of workers")
struct LauncherTests {
  @Test("launcher and worker are C and map no Swift", .rule("worker.10", "worker.13"), arguments: WorkerRun.programs)
  func noSwift(_ program: URL) throws {
    let bytes = try Data(contentsOf: program)
    for library in ["libswift", "libFoundation", "libstdc++"] {
      #expect(bytes.range(of: Data(library.utf8)) == nil, "\(program.path) names \(library)")
    }
  }

  @Test("a worker is started from an open descriptor, although the file is gone", .rule("worker.10"))
  func keptDescriptor() async throws {
    let folder = try FixturePlugin.Folder()
    let copy = folder.file("worker")
    try FileManager.default.copyItem(at: WorkerRun.programs[1], to: copy)
    let run = try await ToolRun(
      URL(filePath: "/bin/bash"),
      ["-c", "exec 7<'\(copy.path)' && rm '\(copy.path)' && exec '\(WorkerRun.programs[0].path)' --worker 7"])
    #expect(run.status == 0, "\(run)")
    #expect(run.output.hasSuffix("confined\n"), "\(run)")
  }

  @Test(
    "when the launcher is killed, or the process that started it, the worker ends", .rule("worker.12", "worker.15"),
    arguments: [true, false],
    [[], [.namespaces]] as [[WorkerRun.Feature]])
  func killedLauncher(_ isLauncher: Bool, _ lacking: [WorkerRun.Feature]) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await WorkerRun.compile(
      "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { for (;;) pause(); }", into: folder)
    let ended = Mutex<Duration?>(nil)
    let run = try await WorkerRun(["--plugin", plugin, "--seconds", "60"], without: lacking) { starter in
      guard let launcher = ProcessTree.child(of: starter), let worker = ProcessTree.child(of: launcher),
        ProcessTree.waits(for: { ProcessTree.maps(worker, "memfd:plugin") })
      else { return }
      let killed = ContinuousClock.now
      kill(isLauncher ? launcher : starter, SIGKILL)
      guard ProcessTree.waits(for: { !ProcessTree.maps(worker, "memfd:plugin") }) else { return }
      ended.withLock { $0 = ContinuousClock.now - killed }
    }
    #expect(run.status == (isLauncher ? 1 : -SIGKILL), "\(run)")
    #expect(!isLauncher || run.errors.contains("the launcher was ended by signal 9"), "\(run.errors)")
    // The kernel needs less than a millisecond. The machine may be busy.
    #expect(ended.withLock { $0 } ?? .seconds(99) < .seconds(5))
  }

  @Test("a worker that does not end is killed after its time", .rule("worker.46"))
  func endlessPlugin() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await WorkerRun.compile(
      "__attribute__((constructor)) static void begin(void) { for (;;) __asm__ volatile(\"\"); }", into: folder)
    let run = try await WorkerRun(["--plugin", plugin, "--seconds", "1"])
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains("did not end within 1 s and was killed"), "\(run.errors)")
    #expect(run.isConfined)
  }

  @Test(
    "a worker that ends in a constructor is reported with the signal or the status", .rule("worker.42"),
    arguments: [
      ("*(volatile int *)0 = 1;", "signal 11"), ("abort();", "signal 6"), ("_exit(0);", "status 0"), ("_exit(9);", "status 9"),
    ])
  func crash(_ statement: String, _ reason: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await WorkerRun.compile(
      """
      #include <stdlib.h>
      #include <unistd.h>
      __attribute__((constructor)) static void begin(void) { \(statement) }
      """, into: folder)
    let run = try await WorkerRun(["--plugin", plugin])
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains(reason), "\(run.errors)")
  }

  @Test("output of a plugin has no control characters, and ends at 1 MiB", .rule("worker.48"))
  func muchOutput() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await WorkerRun.compile(
      """
      #include <unistd.h>
      __attribute__((constructor)) static void begin(void) {
        static char text[4096];
        text[0] = 27;
        for (int index = 1; index < 4096; index++) text[index] = 'a';
        for (int count = 0; count < 1024; count++) if (write(2, text, 4096) != 4096) return;
      }
      """, into: folder)
    let run = try await WorkerRun(["--plugin", plugin])
    #expect(run.status == 0, "\(run.output)")
    #expect(!run.errors.contains("\u{1b}"))
    #expect(run.errors.utf8.count < 1 << 20 + 200)
    #expect(run.errors.contains("3145728 bytes that the worker wrote were dropped"))
  }

  @Test("a file that is not a library is not mapped, and the loader's reason is printed")
  func notALibrary() async throws {
    let folder = try FixturePlugin.Folder()
    try Data("no library".utf8).write(to: folder.file("text"))
    let run = try await WorkerRun(["--plugin", folder.file("text").path])
    #expect(run.status == 4, "\(run)")
    #expect(run.output.contains("not mapped: /proc/self/fd/4: "), "\(run.output)")
  }

  @Test(
    "a plugin that cannot be read is refused before a worker starts", arguments: ["/nonexistent/plugin.so", "/dev/null", "/"])
  func unreadable(_ path: String) async throws {
    let run = try await WorkerRun(["--plugin", path])
    #expect(run.status == 1, "\(run)")
    #expect(run.output == "")
    #expect(run.errors.contains("\(path) cannot be read: "), "\(run.errors)")
  }

  @Test("the whole host is not given to a worker", arguments: ["/", "/proc", "/proc/self"])
  func tooMuch(_ path: String) async throws {
    guard await WorkerRun.hasNamespaces(.current) else { return }
    let run = try await WorkerRun(["--read", path])
    #expect(run.missing[WorkerRun.Layer.root]?.contains("access to \(path) failed") == true, "\(run)")
  }

  @Test(
    "a wrong option ends the launcher with status 2 and a message that names it",
    arguments: [
      ["--confine", "some"], ["--memory", "1048576"], ["--memory", "-1"], ["--seconds", "0"], ["--read", "relative"],
      ["--user", "0:0"], ["--user", "nobody"], ["--worker", "0"], ["--plugin", ""], ["--nothing", "1"], ["--plugin"],
    ])
  func wrongOptions(_ arguments: [String]) async throws {
    let run = try await WorkerRun(arguments)
    #expect(run.status == 2, "\(run)")
    #expect(run.errors.contains(arguments[0]), "\(run.errors)")
  }

  @Test("a worker that is not started by its launcher says how it is started")
  func lonelyWorker() async throws {
    let run = try await ToolRun(WorkerRun.programs[1], [])
    #expect(run.status == 2)
    #expect(run.errors.contains("carabiner-launcher --help"))
  }
}

/// The processes of this system.
private enum ProcessTree {
  /// Waits for a child of a process.
  static func child(of parent: Int32) -> Int32? {
    var found: Int32?
    _ = waits {
      let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      found = processes.compactMap(Int32.init).first { parentOf($0) == parent }
      return found != nil
    }
    return found
  }

  static func maps(_ process: Int32, _ name: String) -> Bool { WorkerRun.maps(of: "\(process)").contains(name) }

  /// The name of a program may contain spaces and parentheses.
  private static func parentOf(_ process: Int32) -> Int32? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8), let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[end...].split(separator: " ")
    return fields.count > 2 ? Int32(fields[2]) : nil
  }

  /// Waits until a condition is true, at most 20 seconds.
  static func waits(for condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    while !condition() {
      if ContinuousClock.now > end { return false }
      usleep(2000)
    }
    return true
  }
}
