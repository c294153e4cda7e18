internal import CarabinerBridge
internal import CarabinerFiles
internal import CarabinerManifest
internal import Glibc
internal import Synchronization

/// The control group (cgroup v2) of one process of a worker, below that of the host.
///
/// A group that passes controllers on may not have processes itself. So the host first moves to a group of its own, beside those of
/// the workers.
final class WorkerControlGroup: Sendable {
  /// A limit: the file of the kernel, and its value.
  struct Limit: Sendable, Equatable {
    let file: String
    let value: String
  }

  private static let (hostName, workerStart) = ("carabiner-host", "carabiner-worker-")
  /// The period of `cpu.max` in microseconds, which is the kernel's default.
  private static let period = 100_000
  /// Memory of a process besides its limits: pages of libraries, and of the kernel for it.
  private static let spareBytes = 64 << 20
  /// As many as RLIMIT_NPROC permits in a user namespace.
  private static let maximumThreads = 128
  private static let maximumFileBytes = 1 << 20
  /// The folders whose controllers are passed on.
  private static let prepared = Mutex<[String: String]>([:])
  private static let count = Atomic<Int>(0)

  let folder: String

  /// Makes a group with limits.
  ///
  /// - Parameter parent: The group of the host.
  /// - Throws: ``HostError`` with the file that refused.
  init(below parent: ControlGroup, _ limits: [Limit]) throws(HostError) {
    let base = try Self.prepare(parent)
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    folder = "\(base)/\(Self.workerStart)\(getpid())-\(number)"
    guard unsafe mkdir(folder, 0o755) == 0 else { throw Self.failure(folder, errno) }
    do throws(HostError) {
      for limit in limits { try Self.write(limit.value, to: "\(folder)/\(limit.file)") }
    } catch {
      remove()
      throw error
    }
  }

  deinit { remove() }

  /// The group of a worker; nil if its settings need none.
  static func made(for settings: WorkerSettings, lanes: Int) throws(HostError) -> WorkerControlGroup? {
    guard settings.processorPercentage != nil else { return nil }
    let parent: ControlGroup
    do throws(ControlGroup.Lack) {
      parent = try ControlGroup()
      try parent.check("cpu")
    } catch {
      throw HostError(.processFailed, step: "cgroup", path: "", "cpu needs a delegated cgroup v2, and \(error); remove cpu")
    }
    return try WorkerControlGroup(
      below: parent, limits(of: settings, lanes: lanes, controllers: parent.controllers))
  }

  /// The limits of a process of a worker.
  static func limits(of settings: WorkerSettings, lanes: Int, controllers: [String]) -> [Limit] {
    var limits: [Limit] = []
    if controllers.contains("cpu"), let share = settings.processorPercentage {
      limits.append(Limit(file: "cpu.max", value: "\(share * period / 100) \(period)"))
    }
    if controllers.contains("memory") {
      // Shared memory counts for the process that uses a page first: both directions of all lanes and of the control thread.
      let shared = 2 * (lanes + 1) * settings.arenaBytes
      limits.append(Limit(file: "memory.max", value: "\(settings.memoryBytes + shared + spareBytes)"))
      limits.append(Limit(file: "memory.oom.group", value: "1"))
    }
    if controllers.contains("pids") { limits.append(Limit(file: "pids.max", value: "\(maximumThreads)")) }
    return limits
  }

  /// Moves a process to the group, before it maps a plugin.
  func add(_ process: StartedWorker) throws(HostError) {
    // It is not reaped before its launcher has reported its end, so its number is its own.
    if process.process > 0 { try add(number: process.process) }
  }

  func add(number: Int32) throws(HostError) { try Self.write("\(number)", to: "\(folder)/cgroup.procs") }

  /// Removes the group. This has no effect while it has a process.
  func remove() { unsafe rmdir(folder) }

  // MARK: The host's group

  /// Moves the processes of the host's group to one below it, and passes the controllers on.
  ///
  /// - Returns: The folder in which groups of workers can be made.
  private static func prepare(_ parent: ControlGroup) throws(HostError) -> String {
    // After the move, the host is in its own group.
    let isMoved = parent.folder.hasSuffix("/\(hostName)")
    let base = isMoved ? String(parent.folder.dropLast(hostName.utf8.count + 1)) : parent.folder
    return try prepared.withLock { prepared throws(HostError) in
      if let known = prepared[base] { return known }
      let own = "\(base)/\(hostName)"
      if unsafe mkdir(own, 0o755) != 0, errno != EEXIST { throw failure(own, errno) }
      for number in processes(of: base) { try write(number, to: "\(own)/cgroup.procs") }
      for controller in parent.controllers where ["cpu", "memory", "pids"].contains(controller) {
        try write("+\(controller)", to: "\(base)/cgroup.subtree_control")
      }
      prepared[base] = base
      return base
    }
  }

  private static func processes(of folder: String) -> [String] {
    let text = (try? BoundedFile.text(at: "\(folder)/cgroup.procs", maximumBytes: maximumFileBytes)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  private static func write(_ text: String, to path: String) throws(HostError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw failure(path, errno) }
  }

  private static func failure(_ path: String, _ code: Int32) -> HostError {
    HostError(
      .processFailed, step: "cgroup", path: path,
      unsafe """
      the processor time of a worker cannot be limited: \(String(cString: strerror(code))). Start the host in a cgroup of its own, as a \
      systemd service with Delegate=yes, or remove cpu
      """)
  }
}
