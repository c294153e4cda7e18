internal import CarabinerManifest
internal import Synchronization

/// The state of one worker, as reports show it.
package struct WorkerStatus: Sendable, Hashable {
  /// The name of the group.
  package let group: String
  /// The entries with an instance in it, in the order of their creation.
  package let entries: [String]
  package let condition: Worker.Condition
  /// The number of the process, for messages only; nil if none runs.
  package let process: Int32?
  /// Counts the processes of the worker, from 1.
  package let generation: Int
  /// How many threads call hooks.
  package let lanes: Int
  /// How many hooks are in the worker, and how many wait for it.
  package let (underWay, waiting): (Int, Int)
  /// How often hooks crossed to it. A crossing calls one hook or several.
  package let crossings: Int
  /// How often it was started again.
  package let restarts: Int
  /// Why the last process ended; empty if none has.
  package let lastReason: String
}

extension Worker {
  /// The present state of the worker.
  package var status: WorkerStatus {
    state.withLock { state in
      let lanes = state.process?.lanes.dropFirst() ?? []
      return WorkerStatus(
        group: settings.group,
        entries: state.instances.sorted { $0.key < $1.key }.compactMap { $0.value.value?.name }, condition: state.condition,
        process: state.process.map(\.process.process), generation: Int(state.generation), lanes: lanes.count,
        underWay: lanes.reduce(0) { $0 + $1.openSlots }, waiting: state.waiting.count,
        crossings: state.process?.postedCrossings ?? 0, restarts: state.restarts,
        lastReason: state.lastReason)
    }
  }
}

extension HostedChain {
  /// The workers of the chain, by group.
  package func workers() -> [WorkerStatus] {
    current.loadedPlugins.workers.sorted { $0.key < $1.key }.flatMap { $0.value.workers.map(\.status) }
  }
}
