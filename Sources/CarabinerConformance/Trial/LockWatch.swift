internal import CTestHost
internal import Synchronization

/// How many locks of the plugin the thread of a hook holds.
final class LockWatch: Sendable {
  private let before = Mutex<Int64>(0)

  /// Begins to count for the library of a stage; false if it imports no locks of libc, or is in a worker.
  @discardableResult
  func begin(_ stage: StageHooks?) -> Bool {
    guard PluginWorker.current == nil, let code = unsafe stage?.code else { return false }
    return unsafe CTestHost_watchLocks(code) > 0
  }

  /// How many locks this thread holds.
  var held: Int64 { CTestHost_heldLocks() }

  /// Called before a hook and after it; returns how many more locks are held after it.
  func note(_ isBefore: Bool) -> Int64? {
    let held = held
    return before.withLock { before in
      if isBefore {
        before = held
        return nil
      }
      return held > before ? held - before : nil
    }
  }
}
