internal import CarabinerWire
internal import Glibc

extension Manifest {
  /// Settings of workers that this system cannot apply, for `carabiner check` and for a host that starts.
  ///
  /// - Parameters:
  ///   - controlGroup: Finds the control group of this process.
  ///   - isRoot: Whether the host is root, so that workers need another user; nil to ask the system.
  package func workerProblems(
    _ overrides: IsolationOverrides, isRoot: Bool? = nil,
    controlGroup: () throws(ControlGroup.Lack) -> ControlGroup = { () throws(ControlGroup.Lack) in try ControlGroup() }
  ) -> [ManifestProblem] {
    let isolated = plugins.map { ($0, isolation(of: $0, overrides)) }.filter { $1 != .inProcess }
    guard !isolated.isEmpty else { return [] }
    var problems: [ManifestProblem] = []
    if isRoot ?? (geteuid() == 0), settings.workerUser.ids == nil {
      problems.append(
        ManifestProblem(
          .isolation, at: JSONPointer(components: ["settings", "worker-user"]),
          "there is no user \(settings.workerUser) for workers on this system, or the user is root; write worker-user: with a user of "
            + "this system that owns no files, or with two numbers, as in 65534:65534"))
    }
    let limited = isolated.filter { $1.worker?.processorPercentage != nil }.map(\.0)
    guard !limited.isEmpty else { return problems }
    do throws(ControlGroup.Lack) {
      try controlGroup().check("cpu")
    } catch {
      problems += limited.map { plugin in
        ManifestProblem(
          .isolation, at: plugin.pointer.appending("isolation").appending("cpu"),
          "cpu needs a delegated cgroup v2 with the cpu controller, and \(error); start the host as a systemd service with "
            + "Delegate=cpu, or remove cpu")
      }
    }
    return problems
  }

  /// A warning about a plugin with an instance in each of several processes. Its caches and limits count per process.
  ///
  /// - Parameter isPerCall: Whether the plugin has an instance for each call (`CRB_THREADS_PER_CALL`).
  package func warning(about plugin: Plugin, _ overrides: IsolationOverrides, isPerCall: Bool) -> ManifestProblem? {
    guard let settings = isolation(of: plugin, overrides).worker, settings.workers > 1, !isPerCall else { return nil }
    return ManifestProblem(
      .isolation, at: plugin.pointer.appending("isolation").appending("workers"),
      "\(plugin.name) keeps its state between calls, and each of the \(settings.workers) workers has an instance of its own: caches and "
        + "limits count per process; write workers: 1 if they must count for all calls")
  }
}
