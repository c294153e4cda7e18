internal import Synchronization

/// Bounds how deep the steps of one chain are nested on the stack of a thread.
final class Trampoline: Sendable {
  /// How many steps call one another on one stack. Further ones run after the stack is unwound.
  static let maximumNesting = 64

  private struct Frame {
    var depth = 0
    var waiting: [Transferred<() -> Void>] = []
  }

  private let frames = Mutex<[UInt: Frame]>([:])
  private let releases = Mutex<[UInt: [Transferred<Any?>]]>([:])

  /// Runs a step: at once, or if there are too many on this stack, after they have returned.
  func nest(_ step: @escaping () -> Void) { run(step, below: Self.maximumNesting) }

  /// Runs the first step of a pass: at once, or after the steps on this stack have returned.
  func restart(_ step: @escaping () -> Void) { run(step, below: 1) }

  private func run(_ step: @escaping () -> Void, below limit: Int) {
    let (thread, waiting) = (ThreadNumber.current, Transferred(step))
    let runsNow = frames.withLock { frames in
      let depth = frames[thread]?.depth ?? 0
      guard depth < limit else {
        frames[thread]?.waiting.append(waiting)
        return false
      }
      frames[thread, default: Frame()].depth += 1
      return true
    }
    guard runsNow else { return }
    step()
    while let next = leave(thread) { next.value() }
  }

  /// Leaves a step. Returns the next one that waits, which then has its place on the stack.
  private func leave(_ thread: UInt) -> Transferred<() -> Void>? {
    frames.withLock { frames in
      guard var frame = frames[thread] else { return nil }
      if frame.depth == 1, !frame.waiting.isEmpty {
        let next = frame.waiting.removeFirst()
        frames[thread] = frame
        return next
      }
      frame.depth -= 1
      frames[thread] = frame.depth == 0 ? nil : frame
      return nil
    }
  }

  /// Releases a value whose release may release others of this chain, without one stack frame for each.
  func release(_ value: inout Any?) {
    let thread = ThreadNumber.current
    if take(&value, thread) { drain(thread) }
  }

  /// Takes the only reference to a value. Returns whether this thread releases no other value.
  private func take(_ value: inout Any?, _ thread: UInt) -> Bool {
    let last = Transferred(value)
    value = nil
    return releases.withLock { releases in
      let isFirst = releases[thread] == nil
      releases[thread, default: []].append(last)
      return isFirst
    }
  }

  private func drain(_ thread: UInt) {
    while true {
      let next: Transferred<Any?>? = releases.withLock { releases in
        guard let next = releases[thread]?.popLast() else {
          releases[thread] = nil
          return nil
        }
        return next
      }
      guard next != nil else { return }
    }
  }
}
