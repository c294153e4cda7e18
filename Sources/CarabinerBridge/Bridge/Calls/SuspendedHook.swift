internal import CCarabiner
internal import Synchronization

/// The life of one token: armed by `suspend`, resumed or revoked once, and awaited by the host in between.
///
/// The word holds generation (32 bits), verdict (16) and state (16). Every change is one compare-and-swap, so if many threads
/// resume at once, exactly one succeeds. This is the only file of the module with a continuation.
@safe final class SuspendedHook: Sendable {
  private enum State: UInt16 {
    case free
    case armed
    /// Resumed before the host began to wait.
    case resumed
    case parked
  }

  private let word = Atomic<UInt64>(0)
  /// The timers that revoke the token: the hook's own limit, and the grace of a cancelled call.
  private let revocations = Mutex<(HostEnvironment.Cancellation?, HostEnvironment.Cancellation?)>((nil, nil))
  private let continuation = unsafe Mutex<UnsafeContinuation<crb_verdict, Never>?>(nil)

  private static func pack(_ generation: UInt32, _ verdict: crb_verdict, _ state: State) -> UInt64 {
    UInt64(generation) << 32 | UInt64(UInt16(truncatingIfNeeded: verdict)) << 16 | UInt64(state.rawValue)
  }

  private static func unpack(_ word: UInt64) -> (generation: UInt32, verdict: crb_verdict, state: State) {
    (
      UInt32(word >> 32), crb_verdict(Int16(truncatingIfNeeded: word >> 16)),
      State(rawValue: UInt16(truncatingIfNeeded: word)) ?? .free
    )
  }

  private func change(from old: UInt64, to new: UInt64) -> Bool {
    word.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }

  /// Arms a token and gives its generation; nil if one is armed already.
  func arm() -> UInt32? {
    let old = word.load(ordering: .acquiring)
    let (generation, _, state) = Self.unpack(old)
    guard state == .free else { return nil }
    let next = generation == .max ? 1 : generation + 1
    return change(from: old, to: Self.pack(next, 0, .armed)) ? next : nil
  }

  /// The generation of the newest token.
  var generation: UInt32 { Self.unpack(word.load(ordering: .acquiring)).generation }

  /// Whether a token waits to be resumed.
  var isArmed: Bool { Self.unpack(word.load(ordering: .acquiring)).state != .free }

  /// Finishes the hook; false if the token is stale.
  func resume(generation: UInt32, verdict: crb_verdict) -> Bool {
    while true {
      let old = word.load(ordering: .acquiring)
      let (current, _, state) = Self.unpack(old)
      guard current == generation else { return false }
      switch state {
      case .free, .resumed:
        return false
      case .armed:
        if change(from: old, to: Self.pack(generation, verdict, .resumed)) { return true }
      case .parked:
        guard change(from: old, to: Self.pack(generation, 0, .free)) else { continue }
        wake(verdict)
        return true
      }
    }
  }

  /// The verdict of a token that was resumed before the host waited for it; nil if there is none.
  func takeVerdict() -> crb_verdict? {
    let old = word.load(ordering: .acquiring)
    let (generation, verdict, state) = Self.unpack(old)
    return state == .resumed && change(from: old, to: Self.pack(generation, 0, .free)) ? verdict : nil
  }

  /// Waits until the token is resumed or revoked, if that did not happen before.
  func completion() async -> crb_verdict {
    // The word ensures that it is resumed exactly once. A checked continuation would allocate memory for the same check.
    unsafe await withUnsafeContinuation { waiting in
      unsafe continuation.withLock { unsafe $0 = unsafe waiting }
      while true {
        let old = word.load(ordering: .acquiring)
        let (generation, _, state) = Self.unpack(old)
        switch state {
        case .armed:
          if change(from: old, to: Self.pack(generation, 0, .parked)) { return }
        case .resumed:
          if let verdict = takeVerdict() { return wake(verdict) }
        case .free, .parked:
          // Revoked in the meantime.
          return wake(Self.revoked)
        }
      }
    }
  }

  /// Makes the token stale; a waiting host goes on with ``revoked``. True if there was a token.
  ///
  /// - Parameter wanted: Only a token of this generation; nil for any.
  @discardableResult
  func revoke(_ wanted: UInt32? = nil) -> Bool {
    while true {
      let old = word.load(ordering: .acquiring)
      let (generation, _, state) = Self.unpack(old)
      guard state != .free, wanted == nil || wanted == generation else { return false }
      guard change(from: old, to: Self.pack(generation, 0, .free)) else { continue }
      if state == .parked { wake(Self.revoked) }
      return true
    }
  }

  /// Makes a token stale after a while, unless ``cancelRevocations()`` comes first.
  func revoke(_ generation: UInt32, after delay: Duration, on environment: HostEnvironment) {
    let cancellation = environment.schedule(delay) { self.revoke(generation) }
    revocations.withLock { $0 = (cancellation, $0.0) }
  }

  /// Cancels the timers, because the hook has ended.
  func cancelRevocations() {
    let (first, second) = revocations.withLock { revocations in
      defer { revocations = (nil, nil) }
      return revocations
    }
    first?()
    second?()
  }

  /// The result of a wait whose token was revoked. It is not a valid verdict.
  static let revoked = crb_verdict(Int16.max)

  private func wake(_ verdict: crb_verdict) {
    let waiting = unsafe continuation.withLock { continuation in
      defer { unsafe continuation = nil }
      return unsafe continuation
    }
    unsafe waiting?.resume(returning: verdict)
  }
}
