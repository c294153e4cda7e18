internal import CCarabiner
internal import CTestHost
internal import CarabinerBridge
internal import Glibc
internal import Synchronization

/// The host of a plugin under test. It follows carabiner.h exactly, watches all memory that it lends, and notes each breach
/// of a rule, in every check.
///
/// A process tests one plugin, and the functions of the C table have no context, so there is one test host.
@safe final class TestHost: @unchecked Sendable {
  // `state` guards everything that changes. Only the thread of a hook writes the record, and it is read after the test.

  static let current = TestHost()

  /// Everything that changes.
  struct State {
    var calls: [crb_call: TestHostCall] = [:]
    var tokens: [crb_token: crb_call] = [:]
    /// Revoked tokens. To resume one is not a breach, because the plugin may not know of the revocation yet.
    var revoked: Set<crb_token> = []
    /// Calls with a revoked token: the plugin may still work on them.
    var interrupted: Set<crb_call> = []
    /// How many hooks were pending for too long.
    var abandonedHooks = 0
    var buffers = TestHostBuffers()
    /// Whether lent bytes get their own pages, which is slow and finds more breaches.
    var isGuarded = true
    /// The addresses of writable memory of the host, which the plugin must not free.
    var own: Set<UInt> = []
    var keys: [String: crb_key] = [:]
    var faults = FaultPlan()
    /// The answer of functions that no header has yet.
    var newerAnswer: UInt64 = 0
    var breaches: [Finding] = []
    /// The log lines of the plugin, bounded.
    var logged: [String] = []
    /// The values of the baggage, bounded like the log.
    var carried: [[UInt8]] = []
    /// The bytes that the plugin passes to the host, if a check asks for them.
    var ledger: [HandedBytes]?
    /// How often each host function was called.
    var uses: [HostSlot: Int] = [:]
    private var lastNumber: UInt64 = 0
    var grants: Set<String> = ["fetch", "store"]
    /// The answers to the next requests of crb.fetch/1.
    var answers: [FetchAnswer] = []

    /// The next unused number.
    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  /// Work to do while a hook waits inside a service.
  struct Interruption {
    var work: (() -> Void)?
    /// How many threads do it now.
    var running = 0
    /// How long the call of the service waits for them.
    var time = Duration.milliseconds(500)
  }

  /// The answer to a plugin's own request.
  struct FetchAnswer: Sendable {
    var status: UInt32 = 200
    var headers = [HeaderSample(name: "Content-Type", value: "application/json")]
    var body = Array(#"{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"Bearer","expires_in":3600}"#.utf8)
    var failure: ErrorSample?
  }

  static let maximumLogged = 2000
  static let maximumScratchBytes = 1 << 20

  let state = Locked(State())
  /// The thread that ends and runs destructors; 0 if none does.
  let endingThread = Atomic<pthread_t>(0)
  let resumed = TestHostBell()
  let timers = TestHostTimers()
  /// Shared with the supervisor; nil in tests of the test host itself.
  let record: UnsafeMutablePointer<CTestHost_record>?
  /// Work to do while a hook waits inside a service of the host.
  let interruption = Locked(Interruption())
  /// The call whose hook runs, for breaches that name no call.
  private let whereabouts = Mutex("")

  /// Where the plugin is.
  var place: String { whereabouts.withLock(\.self) }

  private init() {
    unsafe record = unsafe FlightRecord.shared
  }

  // MARK: Breaches

  /// Notes a breach of a rule.
  func breach(
    _ check: String, _ message: String, _ severity: Finding.Severity = .failure, at place: String? = nil,
    calls: [RecordedFrame] = []
  ) {
    var finding = Finding(check, severity, message, place: place ?? whereabouts.withLock(\.self))
    finding.calls = calls
    state.withLock { $0.note(finding) }
  }

  /// Returns the noted breaches and forgets them.
  func takeBreaches() -> [Finding] {
    state.withLock { state in
      defer { state.breaches = [] }
      return state.breaches
    }
  }

  /// Records what the plugin does next, so that the supervisor can explain a crash.
  func enter(_ place: String) {
    whereabouts.withLock { $0 = place }
    FlightRecord.trace(CTESTHOST_BEGIN, place)
    guard unsafe record != nil else { return }
    FlightRecord.note(place, inHook: true)
  }

  func leave() {
    whereabouts.withLock { place in
      FlightRecord.trace(CTESTHOST_END, place)
      place = ""
    }
    FlightRecord.note("", inHook: true)
  }

  // MARK: Calls

  /// A handle of no other call.
  func newCall() -> crb_call { HandleKind.call.handle(state.withLock { $0.nextNumber() }) }

  /// The number of a new library or instance.
  func newMember() -> crb_self { HandleKind.member(state.withLock { $0.nextNumber() }) }

  func open(_ call: TestHostCall) { state.withLock { $0.calls[call.handle] = call } }

  /// Ends a call: its handle is stale from now on.
  func close(_ call: TestHostCall) {
    state.withLock { state in
      call.isOver = true
      state.calls[call.handle] = nil
      if case .armed(let token) = call.token { state.tokens[token] = nil }
      for address in call.freeScratch() { state.own.remove(address) }
    }
  }

  /// Turns touches of guarded pages into breaches.
  func collectTouches(at place: String) {
    for touch in GuardedMemory.takeTouches() {
      let name = GuardedMemory.name(of: touch.region)
      let calls = RecordedFrame.calls(of: touch)
      switch touch.kind {
      case UInt32(CTESTHOST_BEYOND):
        breach("ME01", "\(name) was accessed at byte \(touch.offset), which is outside of it", at: place, calls: calls)
      case UInt32(CTESTHOST_WRITTEN):
        breach("ME02", "\(name) was written to at byte \(touch.offset), but it is read-only", at: place, calls: calls)
      case UInt32(CTESTHOST_FREED) where touch.offset < 0:
        breach("ME12", "it frees its own memory twice", at: place, calls: calls)
      case UInt32(CTESTHOST_FREED):
        breach("ME12", "its own memory was accessed at byte \(touch.offset) after free()", at: place, calls: calls)
      case UInt32(CTESTHOST_LATE) where GuardedMemory.wasResumed(touch.region):
        breach(
          "ME04", "\(name) was accessed at byte \(touch.offset) after resume(), which ends the view", at: place, calls: calls)
      default:
        let end = name == GuardedMemory.scratchName ? "its call had ended" : "its hook had completed"
        breach("ME03", "\(name) was accessed at byte \(touch.offset) after \(end)", at: place, calls: calls)
      }
    }
  }
}

/// Signals that a token was resumed.
@safe final class TestHostBell: @unchecked Sendable {
  // Safe: the mutex and the condition variable are made for sharing.

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_cond_init(condition, nil)
  }

  /// Wakes all waiting threads.
  func ring() {
    unsafe pthread_mutex_lock(mutex)
    unsafe pthread_cond_broadcast(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Waits until `isDone`, which is checked before and after each ring.
  ///
  /// - Returns: False if that took longer than `limit`.
  func wait(_ limit: Duration, until isDone: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + limit
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while !isDone() {
      guard ContinuousClock.now < deadline else { return false }
      // Waits in slices. A ring between the check and the wait is then noticed with the next slice.
      var until = timespec()
      unsafe clock_gettime(CLOCK_REALTIME, &until)
      until.tv_nsec += 5_000_000
      if until.tv_nsec >= 1_000_000_000 {
        until.tv_sec += 1
        until.tv_nsec -= 1_000_000_000
      }
      unsafe pthread_cond_timedwait(condition, mutex, &until)
    }
    return true
  }
}
