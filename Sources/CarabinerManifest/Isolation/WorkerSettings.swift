/// The settings of the workers of one group.
///
/// Lists are sorted, so that settings with another order are equal and a reload keeps the worker.
package struct WorkerSettings: Sendable, Hashable {
  /// The reaction to a system that lacks a layer of confinement.
  package enum Confinement: String, Sendable, Hashable, CaseIterable {
    /// The worker does not start.
    case strict
    /// The worker starts without the layer. The host logs which layers are missing.
    case available
  }

  /// The delays between restarts of a worker that crashes, and the crashes that end them.
  package struct Restarts: Sendable, Hashable {
    /// The numbers of crashes that may open the circuit.
    package static let counts = 1...1000

    /// The delay before the second of consecutive restarts. Each further delay is twice as long.
    package var backoff = Duration.milliseconds(100)
    /// The longest delay.
    package var maximum = Duration.seconds(30)
    /// The number of crashes after which the worker is restarted only once per `breaker-cool-down`.
    package var after = 5
    /// The time within which crashes are counted.
    package var within = Duration.seconds(60)

    /// Creates the defaults: the first restart at once, later ones after 100 ms to 30 s, and a limit of five crashes within a minute.
    package init() {}
  }

  /// The valid numbers of processes, and of lanes of a process.
  package static let counts = 1...16
  /// The possible limits of writable memory. Less than 16 MiB is too little for some runtimes.
  package static let memorySizes = 16 << 20...ByteSizeText.maximum
  /// The possible sizes of an arena, 1 MiB to 4 GiB.
  package static let arenaSizes = 1 << 20...4 << 30
  /// The possible shares of processor time in per cent. 100 is one processor.
  package static let processorPercentages = 1...1600
  /// The sizes of arenas are multiples of this size, in bytes.
  package static let arenaBlock = 16 << 10
  /// The address space of one process (RLIMIT_AS), and the part of it that libraries, stacks and the pages before arenas use, in
  /// bytes.
  package static let (addresses, otherAddresses) = (64 << 30, 2 << 30)
  /// The maximum number of lanes if the manifest has no number.
  private static let maximumDefaultLanes = 4

  /// The name of the group. Entries with the same group share their processes.
  package var group: String
  /// The number of processes. Each has an instance of every entry of the group.
  package var workers = 1
  /// The number of threads of a process that call hooks; nil for the default of ``laneCount(processors:)``.
  package var lanes: Int?
  /// The limit of the writable memory of one process, in bytes.
  package var memoryBytes = 256 << 20
  /// The limit of the processor time of one process, in per cent of one processor; nil for no limit.
  package var processorPercentage: Int?
  /// The shared memory for messages in one direction, in bytes.
  package var arenaBytes = 64 << 20
  /// The longest time that a hook may run. Then its worker is killed.
  package var hang = Duration.seconds(1)
  /// The files and folders that plugins may read, besides libraries: absolute, normalized and sorted.
  package var readablePaths: [String] = []
  /// The variables of the host's environment that are passed on, sorted.
  package var environment: [String] = []
  package var restarts = Restarts()
  package var confinement = Confinement.strict

  /// The defaults, for a group.
  package init(group: String) { self.group = group }

  /// The number of threads of a process that call hooks: what the manifest says, or one per processor, at most 4.
  package func laneCount(processors: Int) -> Int { lanes ?? max(1, min(processors, Self.maximumDefaultLanes)) }

  /// The addresses that one process needs: an arena in each direction for each lane and for the control thread, and its memory.
  package func addressBytes(arena: Int, lanes: Int) -> Int { 2 * (lanes + 1) * arena + memoryBytes + Self.otherAddresses }
}
