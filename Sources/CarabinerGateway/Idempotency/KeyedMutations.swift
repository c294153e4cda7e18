internal import Synchronization

/// The mutations with a key that are running. They continue when their clients disconnect.
package final class KeyedMutations: Sendable {
  private let tasks = Mutex((next: 0, running: [Int: @Sendable () -> Void]()))

  /// The number of these mutations.
  package var count: Int { tasks.withLock { $0.running.count } }

  /// Runs a body to its end, whether or not the caller is cancelled.
  func run<Value: Sendable>(on executor: any TaskExecutor, _ body: @escaping @Sendable () async -> Value) async -> Value {
    let task = Task(executorPreference: executor, operation: body)
    let id = tasks.withLock { tasks in
      tasks.next += 1
      tasks.running[tasks.next] = { task.cancel() }
      return tasks.next
    }
    defer { tasks.withLock { $0.running[id] = nil } }
    return await task.value
  }

  /// Cancels all mutations, because the gateway ends.
  package func cancel() {
    for cancel in tasks.withLock({ Array($0.running.values) }) { cancel() }
  }
}
