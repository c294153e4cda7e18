/// The settings with which a worker is started.
package struct WorkerOrder: Sendable, Hashable {
  /// The writable memory in bytes, at least 16 MiB.
  package var memory: UInt64 = 256 << 20
  /// Whether the worker ends if a layer of its confinement is missing.
  package var isStrict = true
  /// The folders that this worker may read; some of those of its launcher.
  package var reading: Set<String> = []
  /// Variables in the form `NAME=value`, beside LANG, TZ and LD_LIBRARY_PATH. Those of the loader (`LD_`) are refused.
  package var environment: [String] = []
  /// Further words of the command line: pairs of a name that begins with `--`, and a value.
  package var words: [String] = []
  /// Descriptors of this process. The first becomes 1 and 2 of the worker, the others 3, 4, 5 and so on.
  ///
  /// They stay open here, and the caller closes them after the start.
  package var descriptors: [Int32]

  /// Creates an order with the default memory and no folders.
  package init(descriptors: [Int32]) { self.descriptors = descriptors }
}

/// How a worker ended.
package struct WorkerEnd: Sendable, Hashable {
  /// Why a process ended.
  package enum Cause: Sendable, Hashable {
    case exit(Int32)
    case signal(Int32)
    /// The launcher ended, and the kernel ended the worker with it.
    case launcher
  }

  /// Why it ended.
  package let cause: Cause
  /// The processor time of the process and of the kernel for it; zero if the launcher ended.
  package let (userTime, systemTime): (Duration, Duration)
  /// The most memory in bytes that was resident; zero if the launcher ended.
  package let maximumMemory: UInt64

  static let withLauncher = WorkerEnd(cause: .launcher, userTime: .zero, systemTime: .zero, maximumMemory: 0)
}

/// The layers of confinement that a launcher makes for all its workers.
package struct LauncherLayers: Sendable, Hashable {
  /// Why there are no namespaces; nil if there are.
  package let missingNamespaces: String?
  /// Why there is no root of its own; nil if there is.
  package let missingRoot: String?
}

/// The user of workers, if the host is root.
package struct WorkerOwner: Sendable, Hashable {
  package let (user, group): (UInt32, UInt32)

  package init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }
}
