internal import CCarabiner
internal import CarabinerABI
internal import Synchronization

/// Suspension.
extension TestHost {
  func suspend(_ handle: crb_call) -> crb_token {
    var token: crb_token = 0
    _ = enter(handle, .suspend) { state, call in
      guard case .none = call.token else {
        return state.complain(
          call, "ER08", .failure, "suspend() was called before the last token was resumed; a hook has one token at a time",
          Status.state)
      }
      token = HandleKind.token.handle(state.nextNumber())
      call.token = .armed(token)
      state.tokens[token] = handle
      return Status.ok
    }
    return token
  }

  func resume(_ token: crb_token, _ verdict: crb_verdict) -> crb_status {
    if let fault = use(.resume) { return fault }
    enum Answer {
      case done, late, unknown
    }
    let answer = state.withLock { state -> Answer in
      guard let handle = state.tokens.removeValue(forKey: token), let call = state.calls[handle],
        case .armed(token) = call.token
      else {
        let wasRevoked = state.revoked.contains(token)
        return wasRevoked ? .late : .unknown
      }
      call.token = .resumed(token, verdict)
      // R3: the views of the hook end here, even if it has not returned.
      call.memory.takeBack(isResumed: true)
      return .done
    }
    switch answer {
    case .done:
      resumed.ring()
      return Status.ok
    case .late:
      // This is not a breach, because the plugin may not know yet that the token was revoked.
      return Status.stale
    case .unknown:
      breach("ER07", "resume() was given a token that was already resumed or never existed")
      return Status.stale
    }
  }

  /// Whether a call has a token that was not resumed.
  func isArmed(_ call: TestHostCall) -> Bool {
    state.withLock { _ in if case .armed = call.token { true } else { false } }
  }

  /// Sets the work to do once, when the plugin next calls a service that can wake it. Then waits until earlier work has ended,
  /// which may still run if the plugin has called a service on its own thread.
  ///
  /// - Returns: Whether the earlier work was never done.
  @discardableResult
  func setInterruption(_ work: (() -> Void)?) -> Bool {
    let wasWaiting = interruption.withLock { interruption in
      defer { interruption.work = work }
      return interruption.work != nil
    }
    while !resumed.wait(.seconds(1), until: { interruption.withLock { $0.running == 0 } }) {}
    return wasWaiting
  }

  /// Called after each start of a service. Does the work that is set, and waits for it.
  func interrupt() {
    let work = interruption.withLock { interruption in
      defer { interruption.work = nil }
      if interruption.work != nil { interruption.running += 1 }
      return interruption.work
    }
    guard let work else { return }
    TestHostThread.detach { [self] in
      work()
      interruption.withLock { $0.running -= 1 }
      resumed.ring()
    }
    // The wait has a limit, because the work may need a lock that the plugin holds here. Such a plugin holds the lock in each of
    // hundreds of exchanges, so the limit becomes shorter.
    let time = interruption.withLock { $0.time }
    guard !resumed.wait(time, until: { interruption.withLock { $0.running == 0 } }) else { return }
    interruption.withLock { $0.time = max($0.time / 2, .milliseconds(5)) }
  }

  /// Revokes the token of a call; false if there was none.
  @discardableResult
  func revoke(_ call: TestHostCall) -> Bool {
    state.withLock { state in
      guard case .armed(let token) = call.token else { return false }
      state.tokens[token] = nil
      state.revoked.insert(token)
      state.interrupted.insert(call.handle)
      call.token = .revoked(token)
      return true
    }
  }
}
