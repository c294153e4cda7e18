internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import Glibc
internal import Synchronization

/// The admission of calls to host functions.
extension TestHost {
  /// Counts a use, and answers at once if the function is to fail.
  func use(_ slot: HostSlot) -> crb_status? {
    FlightRecord.trace(CTESTHOST_USE, slot.rawValue)
    if endingThread.load(ordering: .relaxed) == pthread_self() {
      FlightRecord.note("a destructor calls \(slot.rawValue) of the host while its thread ends", inHook: false)
      abort()
    }
    return state.withLock { state in
      state.uses[slot, default: 0] += 1
      return state.faults.next(slot)
    }
  }

  /// From now on, a call of the host by this thread ends the process with a crash.
  func beginEnd() { endingThread.store(pthread_self(), ordering: .relaxed) }

  /// Runs the body of an [owner] function on its call, if this thread may do that now.
  func enter(
    _ handle: crb_call, _ slot: HostSlot, _ body: (inout State, TestHostCall) -> crb_status
  ) -> crb_status {
    if let fault = use(slot) { return fault }
    var complaint: (check: String, message: String, place: String)?
    let status = state.withLock { state -> crb_status in
      guard let call = state.calls[handle] else {
        if !state.interrupted.contains(handle) {
          complaint = ("LC08", "\(slot.rawValue) was given a call that has ended or never existed", "")
        }
        return Status.stale
      }
      // This is not a breach, because the plugin may not know yet that the token was revoked. The status reports it.
      if state.interrupted.contains(handle), !call.isOwned { return Status.stale }
      guard call.hook != nil else {
        complaint = (
          "TH01", "\(slot.rawValue) [owner] was called between hooks, when the plugin does not own the call", call.place
        )
        return Status.thread
      }
      switch call.token {
      case .none:
        guard call.isHere else {
          complaint = ("TH01", "\(slot.rawValue) [owner] was called by a second thread while the hook runs", call.place)
          return Status.thread
        }
      case .armed:
        break
      case .resumed, .revoked:
        complaint = (
          "TH05", "\(slot.rawValue) [owner] was called after resume(), when the host owns the call again", call.place
        )
        return Status.stale
      }
      return body(&state, call)
    }
    if let complaint {
      breach(complaint.check, complaint.message, at: complaint.place.isEmpty ? nil : complaint.place)
    }
    CTestHost_align(UInt(bitPattern: slot.hashValue) | 1)
    return status
  }

  /// Lets the calling thread act as the thread of a hook that runs in a worker.
  func speak<Value>(for handle: crb_call, isOwn: Bool, _ body: () -> Value) -> Value {
    guard isOwn else { return body() }
    state.withLock { $0.calls[handle]?.deputy = pthread_self() }
    defer { state.withLock { $0.calls[handle]?.deputy = nil } }
    return body()
  }

  // MARK: Facts about a call, for any thread

  func isCancelled(_ handle: crb_call) -> Int32 {
    if let fault = use(.cancelled) { return fault }
    return state.withLock { state in state.calls[handle].map { $0.isCancelled ? 1 : 0 } ?? Status.stale }
  }

  func deadline(of handle: crb_call) -> UInt64 {
    if use(.deadline) != nil { return .max }
    return state.withLock { state in state.calls[handle]?.deadline ?? .max }
  }

  func attempt(of handle: crb_call) -> UInt32 {
    if use(.attempt) != nil { return 0 }
    return state.withLock { state in state.calls[handle]?.attempt ?? 0 }
  }

  func operationType(of handle: crb_call) -> UInt32 {
    if use(.operationType) != nil { return 0 }
    return state.withLock { state in state.calls[handle]?.operation.type ?? 0 }
  }

  func requestID(of handle: crb_call) -> UInt64 {
    if use(.requestID) != nil { return 0 }
    return state.withLock { state in state.calls[handle]?.requestID ?? 0 }
  }
}

extension TestHost.State {
  /// The maximum number of different breaches that are kept.
  private static let maximumBreaches = 200

  /// Notes a breach of a rule.
  mutating func note(_ finding: Finding) {
    breaches.note(finding.withExchange, atMost: Self.maximumBreaches)
  }

  /// Refuses a function that this hook does not have, or that the stage did not declare.
  mutating func refuse(_ call: TestHostCall, _ slot: HostSlot, _ status: crb_status, _ what: String) -> crb_status {
    // Two rules: the functions of a hook (section 4), and the declaration of this stage (R11).
    let isUndeclared = status == Status.readOnly
    let text = isUndeclared ? "changes \(what), which is not declared in mutates" : what
    note(Finding(isUndeclared ? "SE02" : "SE15", .failure, "\(slot.rawValue)() \(text)", place: call.place))
    return status
  }

  /// Notes a breach of another rule.
  mutating func complain(
    _ call: TestHostCall, _ check: String, _ severity: Finding.Severity, _ message: String, _ status: crb_status
  ) -> crb_status {
    note(Finding(check, severity, message, place: call.place))
    return status
  }
}
