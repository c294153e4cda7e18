internal import CCrossing
internal import CLinux
internal import CarabinerBridge
internal import CarabinerManifest
internal import Glibc
internal import Logging
internal import Synchronization

/// Starting the process of a worker, and its end.
extension WorkerProcess {
  /// Makes the launcher start a process.
  ///
  /// - Throws: ``HostError`` if it cannot be started.
  static func start(
    _ settings: WorkerSettings, user: WorkerOwner?, generation: UInt32, lanes: [WorkerLane], bell: Int32,
    plugins: [WorkerGroup.File], counters: WorkerCounters, launcher: String?
  ) throws(HostError) -> WorkerProcess {
    // From now on, it notes fatal signals.
    _ = KernelLog.shared
    let controlGroup: WorkerControlGroup?
    do throws(HostError) {
      controlGroup = try WorkerControlGroup.made(for: settings, lanes: lanes.count - 1)
    } catch {
      close(bell)
      throw error
    }
    let output = try pipe()
    let report = try pipe()
    defer {
      close(output.writer)
      close(report.writer)
    }
    var descriptors = [output.writer, report.writer, bell]
    for lane in lanes { descriptors += [lane.descriptors.down, lane.descriptors.up] }
    descriptors += plugins.map(\.descriptor)
    var order = WorkerOrder(descriptors: descriptors)
    order.memory = UInt64(settings.memoryBytes)
    order.isStrict = settings.confinement == .strict
    order.reading = Set(settings.readablePaths)
    order.environment = variables(settings.environment)
    order.words = [
      "--lanes", "\(lanes.count - 1)", "--arena", "\(settings.arenaBytes)", "--plugins", "\(plugins.count)",
    ]
    let box = KnownProcess()
    let started: StartedWorker
    do throws(HostError) {
      started = try WorkerLauncher.shared(reading: order.reading, user: user, path: launcher).start(order) { box.ended($0) }
    } catch {
      for descriptor in [bell, output.reader, report.reader] { close(descriptor) }
      throw error
    }
    let process = WorkerProcess(
      settings, generation: generation, lanes: lanes, bell: bell, process: started, report: report.reader,
      output: output.reader, counters: counters, controlGroup: controlGroup)
    box.isKnown(process)
    do throws(HostError) {
      try controlGroup?.add(started)
    } catch {
      process.stop(.stopped)
      throw error
    }
    return process
  }

  private static func pipe() throws(HostError) -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe CLinux_newPipe(&ends) == 0 else { throw HostError(system: errno, "a pipe for a worker cannot be made") }
    return (ends[0], ends[1])
  }

  private static func variables(_ names: [String]) -> [String] {
    names.compactMap { name in
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe "\(name)=\(String(cString: value))"
    }
  }

  /// Reads what the worker wrote about its layers so far.
  func readReport() -> String {
    var text: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 4096)
    while text.count < Self.maximumReport {
      let count = unsafe read(report, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      text += block[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static var maximumReport: Int { 64 << 10 }

  /// Ends the process, after its worker is gone.
  func shutDown() {
    control.post(CCROSSING_SHUTDOWN)
    let process = self
    // A plugin that does not end in time is killed.
    _ = HostEnvironment.withoutLoop.schedule(.seconds(1)) { process.stop(.stopped) }
  }
}

/// Connects a process with its end, whichever is known first.
private final class KnownProcess: Sendable {
  private struct State {
    var process: WorkerProcess?
    var end: WorkerEnd?
  }

  private let state = Mutex(State())

  func ended(_ end: WorkerEnd) {
    let process = state.withLock { state in
      state.end = end
      defer { state.process = nil }
      return state.process
    }
    process?.hasEnded(with: end)
  }

  func isKnown(_ process: WorkerProcess) {
    let end = state.withLock { state in
      if state.end == nil { state.process = process }
      return state.end
    }
    if let end { process.hasEnded(with: end) }
  }
}

extension WorkerProcess {
  /// Answers all calls of the process.
  fileprivate func hasEnded(with end: WorkerEnd) {
    guard let lost = self.end(end) else { return }
    controlGroup?.remove()
    if let worker = owner.withLock(\.value) { return worker.processEnded(self, lost) }
    for entry in lost { entry.crossing.lose(loss(of: entry.crossing.instance.name, entry.crossing.hook, isCulprit: false)) }
  }
}
