/// The growth of a process since an earlier moment.
struct Growth: Sendable {
  private let before: ProcessState

  init() { before = ProcessState.now }

  /// The growth, for messages. Less memory than `tolerance` bytes does not count, because allocators keep some.
  func problems(tolerance: Int = 1 << 20) -> [String] {
    let after = ProcessState.now
    var found: [String] = []
    if after.memory - before.memory >= tolerance { found.append("\((after.memory - before.memory) >> 10) KiB of memory") }
    if after.descriptors > before.descriptors { found.append("\(after.descriptors - before.descriptors) open descriptors") }
    if after.threads > before.threads { found.append("\(after.threads - before.threads) running threads") }
    if after.freeKeys < before.freeKeys {
      found.append("\(before.freeKeys - after.freeKeys) thread keys (pthread_key_create)")
    }
    if after.mapped - before.mapped >= tolerance, after.memory - before.memory < tolerance {
      found.append("\((after.mapped - before.mapped) >> 10) KiB of mappings")
    }
    return found
  }
}
