import CarabinerWorkers
import Foundation
import Synchronization
import TestTools

/// A worker that the host's launcher started, and that has ended.
struct WorkerTrial: Sendable {
  let process: Int32
  let output: String
  let report: String
  let end: WorkerEnd

  struct NoEnd: Error {}

  /// A launcher of its own, with the programs of the build.
  static func launcher(reading: Set<String> = ["/usr/share"]) -> WorkerLauncher {
    WorkerLauncher(reading: reading, path: WorkerRun.programs[0].path)
  }

  /// Starts a worker without a plugin, and waits for its end.
  static func run(
    by launcher: WorkerLauncher, isStrict: Bool = false, change: @escaping @Sendable (inout WorkerOrder) -> Void = { _ in }
  ) async throws -> WorkerTrial {
    try await offThePool {
      let (output, report) = (Pipe.notInherited(), Pipe.notInherited())
      let writers = [output, report].map(\.fileHandleForWriting)
      var order = WorkerOrder(descriptors: writers.map(\.fileDescriptor))
      order.isStrict = isStrict
      order.reading = launcher.reading
      order.words = ["--plugin", "no"]
      change(&order)
      let end = WorkerEnding()
      let worker = try launcher.start(order) { end.set($0) }
      for writer in writers { try writer.close() }
      let texts = try [output, report].map { String(decoding: try $0.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self) }
      guard let ended = end.wait() else { throw NoEnd() }
      return WorkerTrial(process: worker.process, output: texts[0], report: texts[1], end: ended)
    }
  }

  /// Compiles a program of Tests/Fixtures/Workers.
  @discardableResult
  static func compile(_ source: String, into folder: FixturePlugin.Folder, as name: String) async throws -> URL {
    let (root, program) = (Repository.root.path, folder.file(name))
    let sources = ["Tests/Fixtures/Workers/\(source)", "Sources/CLaunching/launch", "Sources/CLaunching/messages"]
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/cc"),
      ["-std=gnu11", "-Wall", "-Wextra", "-I\(root)/Sources/CLaunching/include", "-o", program.path]
        + sources.map { "\(root)/\($0).c" })
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.errors) }
    return program
  }
}

/// The end of a worker, for a test that waits for it.
final class WorkerEnding: Sendable {
  private let end = Mutex<WorkerEnd?>(nil)
  private let semaphore = DispatchSemaphore(value: 0)

  func set(_ end: WorkerEnd) {
    self.end.withLock { $0 = end }
    semaphore.signal()
  }

  /// Waits at most 20 seconds.
  func wait() -> WorkerEnd? {
    _ = semaphore.wait(timeout: .now() + 20)
    return end.withLock { $0 }
  }
}

/// A worker that does not end by itself: its report is a pipe that is full.
final class StuckWorker: Sendable {
  let worker: StartedWorker
  let end: WorkerEnding

  init(_ launcher: WorkerLauncher) throws {
    let (output, report) = (Pipe.notInherited(), Pipe.notInherited())
    let writer = report.fileHandleForWriting.fileDescriptor
    let flags = fcntl(writer, F_GETFL)
    _ = fcntl(writer, F_SETFL, flags | O_NONBLOCK)
    var byte: UInt8 = 0
    while unsafe write(writer, &byte, 1) == 1 {}
    _ = fcntl(writer, F_SETFL, flags)
    var order = WorkerOrder(descriptors: [output.fileHandleForWriting.fileDescriptor, writer])
    order.isStrict = false
    order.words = ["--plugin", "no"]
    let end = WorkerEnding()
    self.end = end
    // A pipe without readers would end the worker.
    worker = try launcher.start(order) { ended in
      withExtendedLifetime((output, report)) { end.set(ended) }
    }
  }
}

/// The open descriptors of a process.
enum OpenDescriptors {
  /// The number of descriptors of a launcher, by its starter; of this process if nil. 0 if they cannot be seen.
  static func count(of starter: Int32?) -> Int {
    var place = "self"
    if let starter {
      let children = FileHandle(forReadingAtPath: "/proc/\(starter)/task/\(starter)/children")
      let text = String(decoding: (try? children?.readToEnd()) ?? Data(), as: UTF8.self)
      place = text.split(separator: " ").first.map(String.init) ?? "none"
    }
    return (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(place)/fd").count) ?? 0
  }
}
