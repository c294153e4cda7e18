internal import CLaunching
package import CarabinerBridge
internal import Glibc
internal import Synchronization

/// Starts workers by a `carabiner-launcher`, which has made namespaces and a root for them.
///
/// The launcher is started on the first use, and again after it has ended. It ends with this object, and with the host.
package final class WorkerLauncher: Sendable {
  /// The folders that its workers may read. The root is made once, so there is a launcher for each set of folders.
  package let reading: Set<String>
  private let user: WorkerOwner?
  private let path: String?
  private let connection = Mutex<LauncherConnection?>(nil)

  private struct Key: Hashable {
    let reading: Set<String>
    let user: WorkerOwner?
    let path: String?
  }
  private struct Weak {
    weak var launcher: WorkerLauncher?
  }
  private static let all = Mutex<[Key: Weak]>([:])

  /// The launcher of this process for a set of folders. It lives as long as it has a user or a worker.
  ///
  /// - Parameter path: The program; nil for the one of this host.
  package static func shared(reading: Set<String>, user: WorkerOwner? = nil, path: String? = nil) -> WorkerLauncher {
    let key = Key(reading: reading, user: user, path: path)
    return all.withLock { all in
      if let launcher = all[key]?.launcher { return launcher }
      let launcher = WorkerLauncher(reading: reading, user: user, path: path)
      all = all.filter { $0.value.launcher != nil }
      all[key] = Weak(launcher: launcher)
      return launcher
    }
  }

  /// - Parameters:
  ///   - reading: Absolute paths of files and folders.
  ///   - user: The user of the workers if the host is root; nil for 65534:65534.
  ///   - path: The program; nil for the one of this host.
  package init(reading: Set<String>, user: WorkerOwner? = nil, path: String? = nil) {
    self.reading = reading
    self.user = user
    self.path = path
  }

  deinit { end() }

  /// The version that the launcher must have.
  package static var build: String { CLAUNCHING_BUILD }

  /// Starts a worker. It blocks the thread until the launcher has answered, usually about a millisecond.
  ///
  /// - Parameter onEnd: Called once, on a thread of the launcher, after the worker has ended. It must return soon, and may be called
  ///   before this function has returned.
  /// - Throws: ``HostError`` if there is no launcher, or if it refuses the order. `onEnd` is not called then.
  package func start(
    _ order: WorkerOrder, onEnd: @escaping @Sendable (WorkerEnd) -> Void = { _ in }
  ) throws(HostError) -> StartedWorker {
    // The launcher may have ended a moment ago. A second one that ends at once is an error.
    for _ in 0..<2 {
      if let worker = try current().start(order, for: self, onEnd: onEnd) { return worker }
    }
    throw HostError(
      .launcherFailed, step: "launcher", path: "",
      "carabiner-launcher ended before it answered, twice. Look for its messages on standard error of this host")
  }

  /// The layers that the launcher makes. Starts it if it does not run.
  package func layers() throws(HostError) -> LauncherLayers { try current().layers() }

  /// The number of the launcher's process; nil if it does not run.
  package var process: Int32? { connection.withLock { $0?.isEnded == false ? $0?.process : nil } }

  /// Ends the launcher, and all its workers with it. The next start starts another one.
  package func end() {
    let ended = connection.withLock { connection in
      defer { connection = nil }
      return connection
    }
    ended?.end()
  }

  /// Ends all launchers of this process, and waits for their ends.
  package static func endAll(within limit: Duration) {
    let launchers = all.withLock { $0.values.compactMap(\.launcher) }
    let processes = launchers.compactMap(\.process)
    for launcher in launchers { launcher.end() }
    let end = ContinuousClock.now + limit
    // Their threads reap them.
    while processes.contains(where: { kill($0, 0) == 0 }), ContinuousClock.now < end { usleep(1000) }
  }

  private func current() throws(HostError) -> LauncherConnection {
    let files = try LauncherFiles.files(at: path)
    return try connection.withLock { connection throws(HostError) in
      if let connection, !connection.isEnded { return connection }
      let new = try LauncherConnection(files, words: words)
      connection = new
      return new
    }
  }

  private var words: [String] {
    var words = ["carabiner-launcher"]
    if let user { words += ["--user", "\(user.user):\(user.group)"] }
    return reading.sorted().reduce(into: words) { $0 += ["--read", $1] }
  }
}
