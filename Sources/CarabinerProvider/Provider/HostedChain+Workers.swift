package import CarabinerWorkers

extension HostedChain {
  /// The workers of the chain, by group.
  package func workers() -> [WorkerStatus] {
    current.loadedPlugins.workers.sorted { $0.key < $1.key }.flatMap { $0.value.workers.map(\.status) }
  }
}
