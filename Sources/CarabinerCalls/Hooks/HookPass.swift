/// Passes values through one hook of each interceptor.
final class HookPass<Value: Sendable>: Closable {
  private let queues: [HookQueue<Value>]
  private let last: @Sendable (Value, CallLife) -> Void

  /// - Parameters:
  ///   - hooks: The hooks, in the order in which values pass them.
  ///   - refused: Gets the error of a hook that stops a value.
  ///   - last: Gets each value after the last hook.
  init(
    _ hooks: [Hook<Value>], queue: CallQueue,
    adopt: @escaping @Sendable (_ value: Value, _ given: Value) -> Value = { value, _ in value },
    changed: @escaping @Sendable () -> Void = {}, refused: @escaping @Sendable (ConnectError) -> Void = { _ in },
    last: @escaping @Sendable (Value, CallLife) -> Void
  ) {
    self.last = last
    var queues: [HookQueue<Value>] = []
    for hook in hooks.reversed() {
      let following = queues.last
      queues.append(
        HookQueue(hook, queue: queue, adopt: adopt, changed: changed) { result, life in
          switch result {
          case .failure(let error): refused(error)
          case .success(let value): if let following { following.enter(value, life) } else { last(value, life) }
          }
        })
    }
    self.queues = queues.reversed()
  }

  /// Passes a value to the first hook.
  func enter(_ value: Value, _ life: CallLife) {
    if let first = queues.first { first.enter(value, life) } else { last(value, life) }
  }

  /// The largest number of values that one hook holds.
  var held: Int { queues.lazy.map(\.count).max() ?? 0 }

  /// Whether no value is on its way.
  var isIdle: Bool { queues.allSatisfy(\.isIdle) }

  /// Drops all values, and accepts no more.
  func close() { for queue in queues { queue.close() } }
}

/// Something that can be closed.
protocol Closable: Sendable {
  /// Drops everything, and accepts no more.
  func close()
}
