/// The process that a plugin runs in.
package enum Isolation: Sendable, Hashable {
  /// The process of the host.
  case inProcess
  /// A confined process, the worker. Entries with the same settings and the same group share it.
  case worker(WorkerSettings)

  /// The settings of the worker; nil if the plugin runs in the process of the host.
  package var worker: WorkerSettings? { if case .worker(let settings) = self { settings } else { nil } }
}
