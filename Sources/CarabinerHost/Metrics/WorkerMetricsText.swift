internal import CarabinerGateway
internal import CarabinerWorkers

/// The metrics of workers, by group. Values of a group's processes are added.
struct WorkerMetricsText {
  private let groups: [(name: String, workers: [WorkerStatus])]

  init(_ workers: [WorkerStatus]) {
    groups = Dictionary(grouping: workers, by: \.group).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Adds the metrics to a sink; none if there are no workers.
  func write(to text: inout some MetricSink) {
    guard !groups.isEmpty else { return }
    func family(_ name: String, _ kind: MetricKind, _ help: String, _ value: (WorkerStatus) -> Double) {
      text.family(name, kind, help)
      for group in groups {
        text.sample(name, [("group", group.name)], group.workers.reduce(0) { $0 + value($1) })
      }
    }
    func family(_ name: String, _ help: String, label: String, _ values: (WorkerStatus.Counts) -> [String: Int]) {
      text.family(name, .counter, help)
      for group in groups {
        let all = group.workers.reduce(into: [String: Int]()) { $0.merge(values($1.counts), uniquingKeysWith: +) }
        for (word, count) in all.sorted(by: { $0.key < $1.key }) {
          text.sample(name, [("group", group.name), (label, word)], Double(count))
        }
      }
    }
    family("carabiner_worker_up", .gauge, "Workers of a group that are up.") { $0.condition == .up ? 1 : 0 }
    family("carabiner_worker_circuit_open", .gauge, "Workers of a group that ended too often and are restarted rarely.") {
      if case .open = $0.condition { 1 } else { 0 }
    }
    family(
      "carabiner_worker_restarts_total",
      "Restarts of workers, by the reason of the end: a signal, exit, hang, protocol, launcher or start.",
      label: "reason", \.restarts)
    family("carabiner_worker_crossings_total", .counter, "Posts of hooks to workers.") { Double($0.counts.crossings) }
    family("carabiner_worker_hooks_total", .counter, "Hooks that workers answered.") { Double($0.counts.hooks) }
    family(
      "carabiner_worker_sent_again_total", .counter,
      "Posts that went to the next process, because theirs ended before it began them."
    ) {
      Double($0.counts.sentAgain)
    }
    family("carabiner_worker_calls_lost_total", .counter, "Calls that failed because a process had ended.") {
      Double($0.counts.lostCalls)
    }
    family("carabiner_worker_upcalls_total", "Requests of workers to the host, by kind.", label: "kind", \.upcalls)
    family("carabiner_worker_queue", .gauge, "Hooks that wait for a worker.") { Double($0.waiting) }
    family("carabiner_worker_running", .gauge, "Hooks that are in a worker, including pending ones.") { Double($0.underWay) }
    writeBegin(&text)
    family("carabiner_worker_memory_bytes", .gauge, "Memory of workers that counts towards their limit.") {
      Double($0.memoryBytes ?? 0)
    }
    family("carabiner_worker_cpu_seconds_total", .counter, "CPU time that workers have taken.") { $0.processorTime / .seconds(1) }
    family(
      "carabiner_worker_refused_calls_total", "System calls that workers were refused, by name.", label: "call", \.refusedCalls)
    family(
      "carabiner_worker_log_lines_dropped_total", .counter, "Lines of plugins that were not logged, because there were too many."
    ) {
      Double($0.counts.droppedLines)
    }
  }

  private func writeBegin(_ text: inout some MetricSink) {
    let name = "carabiner_worker_begin_seconds"
    text.family(name, .histogram, "Time from the post of a hook until its worker began it.")
    for group in groups {
      let waits = group.workers.reduce(WorkerWaits.Summary()) { $0 + $1.counts.begin }
      var total = 0
      for (index, count) in waits.counts.enumerated() {
        total += count
        let bound = index < WorkerWaits.bounds.count ? "\(Double(WorkerWaits.bounds[index]) / 1e9)" : "+Inf"
        text.sample("\(name)_bucket", [("group", group.name), ("le", bound)], Double(total))
      }
      text.sample("\(name)_sum", [("group", group.name)], Double(waits.nanoseconds) / 1e9)
      text.sample("\(name)_count", [("group", group.name)], Double(total))
    }
  }
}
