internal import Carabiner
internal import CarabinerCurl
package import CarabinerManifest
internal import Synchronization

/// The endpoints of an upstream, with their state. Requests are sent by ``UpstreamTransport``.
///
/// A reload keeps it while its settings stay the same.
package final class Upstream: Sendable {
  private struct State: Sendable {
    var table: EndpointTable
    var line: UpstreamLine
    var breaker: UpstreamBreaker?
    var retries = 0
    var lastWaiter = 0
    var generator = SystemRandomNumberGenerator()
  }

  package let settings: Manifest.Upstream
  /// The endpoints in the order of the manifest.
  package let endpoints: [UpstreamEndpoint]
  package let counters: UpstreamCounters
  let rule: RetryRule
  let transport: CurlTransport
  private let state: Mutex<State>
  private let start = ContinuousClock.now
  private let watcher: Mutex<UpstreamWatcher>

  /// - Parameters:
  ///   - endpoints: The endpoints, one for each entry of the settings; at least one.
  ///   - counters: The counters of the predecessor, so that no counter decreases.
  ///   - lookUp: Looks up host names.
  init(
    _ settings: Manifest.Upstream, _ endpoints: [UpstreamEndpoint], transport: CurlTransport, counters: UpstreamCounters,
    lookUp: @escaping NameLookup = SystemNames.lookUp
  ) {
    watcher = Mutex(UpstreamWatcher(lookUp: lookUp))
    self.settings = settings
    self.endpoints = endpoints
    self.transport = transport
    self.counters = counters
    rule = RetryRule(settings: settings.retry)
    let servers = endpoints.enumerated().map { EndpointServer($1, entry: $0) }
    state = Mutex(
      State(
        table: EndpointTable(settings, servers), line: UpstreamLine(settings.limits),
        breaker: settings.breaker.map { UpstreamBreaker($0) }))
  }

  /// The time since the upstream was made.
  private var now: Duration { .now - start }

  // MARK: Requests

  /// Waits until a request may begin.
  ///
  /// - Throws: ``Carabiner/UpstreamRefusal``, `TransportError` at the deadline, or `CancellationError`.
  func enter(by deadline: AttemptDeadline) async throws -> UpstreamPass {
    let (pass, place): (UpstreamBreaker.Pass?, UpstreamLine.Place) = state.withLock { state in
      var pass: UpstreamBreaker.Pass? = .normal
      if state.breaker != nil { pass = state.breaker?.admit(at: now) }
      guard let admitted = pass else { return (nil, .full) }
      let place = state.line.arrive()
      // A refused trial does not show whether the upstream works.
      if place == .full { state.breaker?.ended(admitted, isFailure: nil, at: now) }
      return (admitted, place)
    }
    guard let pass else { throw UpstreamRefusal(.open, upstream: settings.name) }
    switch place {
    case .underWay: break
    case .full: throw UpstreamRefusal(.overloaded, upstream: settings.name)
    case .waiting:
      do {
        try await waitInLine(until: deadline)
      } catch {
        state.withLock { $0.breaker?.ended(pass, isFailure: nil, at: now) }
        throw error
      }
    }
    return UpstreamPass(self, pass)
  }

  private func waitInLine(until deadline: AttemptDeadline) async throws {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    guard let end = deadline.end else { return try await waitInLine(as: number) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await Task.sleep(until: end)
        // Only the code that removes a waiter from the line resumes it, so it is resumed once.
        self.state.withLock { $0.line.leaveLine(number) }?.resume(throwing: self.waitedTooLong)
      }
      defer { group.cancelAll() }
      try await waitInLine(as: number)
    }
  }

  private var waitedTooLong: TransportError {
    TransportError(
      .timedOut,
      "all \(settings.limits.requests) requests of upstream \(settings.name) were under way until the timeout; "
        + "raise limits: {requests}, or add endpoints",
      url: endpoints[0].text, mayHaveBeenSent: false)
  }

  private func waitInLine(as number: Int) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (waiter: UpstreamLine.Waiter) in
        let result: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          // A place may have become free since the first call.
          switch state.line.arrive() {
          case .underWay: return .success(())
          case .full: return .failure(UpstreamRefusal(.overloaded, upstream: settings.name))
          case .waiting:
            state.line.wait(number, waiter)
            return nil
          }
        }
        if let result { waiter.resume(with: result) }
      }
    } onCancel: {
      state.withLock { $0.line.leaveLine(number) }?.resume(throwing: CancellationError())
    }
  }

  /// Counts the end of a request.
  func leave(_ pass: UpstreamBreaker.Pass, isFailure: Bool?, isRetrying: Bool) {
    let next = state.withLock { state in
      if isRetrying { state.retries -= 1 }
      state.breaker?.ended(pass, isFailure: isFailure, at: now)
      return state.line.ended()
    }
    next?.resume()
  }

  /// Counts a retry as in progress, if the budget allows one more.
  func beginRetry() -> Bool {
    state.withLock { state in
      guard rule.allows(retries: state.retries, requests: state.line.underWay) else { return false }
      state.retries += 1
      return true
    }
  }

  func endRetry() { state.withLock { $0.retries -= 1 } }

  // MARK: Attempts

  /// Chooses an endpoint; nil if none is available.
  func choose(tried: [Int], key: UInt64?) -> EndpointTable.Choice? {
    state.withLock { state in state.table.choose(tried: tried, key: key, at: now, using: &state.generator) }
  }

  /// The time before a retry; nil if there is none.
  func delay(before retry: Int, changesEndpoint: Bool, retryAfter: String?) -> Duration? {
    state.withLock { state in
      rule.delay(before: retry, changesEndpoint: changesEndpoint, retryAfter: retryAfter, using: &state.generator)
    }
  }

  /// Records the outcome of an attempt.
  func note(_ outcome: AttemptOutcome, of choice: EndpointTable.Choice) {
    let label = endpoints[choice.server.entry].label
    counters.ended(outcome, at: label)
    if state.withLock({ $0.table.note(outcome, of: choice.number, at: now) }) { counters.ejected(label) }
  }

  /// Records that a request at an endpoint has ended.
  func left(_ number: Int) { state.withLock { $0.table.left(number) } }

  // MARK: Endpoints

  /// Starts the checks of endpoints and the lookups of their names, unless they were started.
  ///
  /// - Parameter headers: The header fields of checks from now on.
  func watch(_ headers: HTTPHeaders) { watcher.withLock { $0.begin(for: self, headers) } }

  /// The header fields of checks.
  var checkHeaders: HTTPHeaders { watcher.withLock { $0.headers } }

  /// The servers with their numbers.
  var servers: [(number: Int, server: EndpointServer)] { state.withLock { $0.table.servers } }

  /// Replaces the servers.
  func replace(with servers: [EndpointServer]) { state.withLock { $0.table.replace(with: servers, at: now) } }

  /// Records the result of a check.
  func noteCheck(_ succeeded: Bool, of number: Int) {
    counters.checked(succeeded)
    state.withLock { $0.table.noteCheck(succeeded, of: number, at: now) }
  }

  /// The state for metrics and `carabiner status`.
  package var snapshot: UpstreamSnapshot {
    state.withLock { state in
      UpstreamSnapshot(
        endpoints: state.table.availability(at: now), isPanicking: state.table.isPanicking,
        isOpen: state.breaker?.isOpen == true, underWay: state.line.underWay, waiting: state.line.waiting)
    }
  }
}

/// The state of an upstream at one time.
package struct UpstreamSnapshot: Sendable {
  package let endpoints: [EndpointTable.Availability]
  package let isPanicking: Bool
  /// Whether the circuit breaker is open.
  package let isOpen: Bool
  package let underWay: Int
  package let waiting: Int
}

/// A request in progress in an upstream. It ends once: explicitly, or when it is released.
final class UpstreamPass: Sendable {
  private struct State {
    var isFailure: Bool?
    var isRetrying = false
    var isOver = false
    /// The endpoint at which the request is in progress.
    var endpoint: Int?
  }

  private let upstream: Upstream
  private let pass: UpstreamBreaker.Pass
  private let state = Mutex(State())

  init(_ upstream: Upstream, _ pass: UpstreamBreaker.Pass) {
    self.upstream = upstream
    self.pass = pass
  }

  deinit { end() }

  /// Records that the request was sent to another endpoint.
  func moved(to endpoint: Int?) {
    let earlier = state.withLock { state in
      defer { state.endpoint = endpoint }
      return state.endpoint
    }
    if let earlier { upstream.left(earlier) }
  }

  func note(isFailure: Bool?) { state.withLock { $0.isFailure = isFailure } }

  /// Counts a retry, if the budget allows one more. A request has at most one retry in progress.
  func beginRetry() -> Bool {
    if state.withLock({ state in
      defer { state.isRetrying = false }
      return state.isRetrying
    }) {
      upstream.endRetry()
    }
    let mayBegin = upstream.beginRetry()
    state.withLock { $0.isRetrying = mayBegin }
    return mayBegin
  }

  /// Records that the request has ended.
  func end() {
    let state = state.withLock { state in
      defer { state.isOver = true }
      return state
    }
    guard !state.isOver else { return }
    if let endpoint = state.endpoint { upstream.left(endpoint) }
    upstream.leave(pass, isFailure: state.isFailure, isRetrying: state.isRetrying)
  }
}

extension EndpointServer {
  init(_ endpoint: UpstreamEndpoint, entry: Int, address: String? = nil) {
    self.init(
      entry: entry, weight: endpoint.weight, isBackup: endpoint.isBackup, url: endpoint.text, address: address)
  }
}
