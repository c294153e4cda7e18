internal import CarabinerWire
internal import Synchronization

/// Limits the operations in progress: each one starts at once, waits in a queue or is refused.
final class Admission: Sendable {
  /// The decision about an operation.
  enum Verdict: Sendable {
    /// It has started.
    case begun
    /// It starts when another one has ended.
    case waiting
    /// The queue is full.
    case crowded
    /// The client has reached its limit of operations in progress.
    case clientLimitExceeded
  }

  private struct Waiting {
    let client: String
    let begin: @Sendable () -> Void
  }

  private struct State {
    var limits: GatewayLimits
    var running = 0
    var queue: [Waiting] = []
    /// The index of the first waiting operation. Entries before it are removed in batches.
    var head = 0
    var byClient: [String: Int] = [:]

    var waiting: Int { queue.count - head }

    mutating func next() -> Waiting? {
      guard head < queue.count else { return nil }
      let next = queue[head]
      head += 1
      if head == queue.count || head > 1024 {
        queue.removeFirst(head)
        head = 0
      }
      return next
    }
  }

  private let state: Mutex<State>

  init(_ limits: GatewayLimits) { state = Mutex(State(limits: limits)) }

  /// The numbers of operations in progress and in the queue.
  var load: (running: Int, waiting: Int) { state.withLock { ($0.running, $0.waiting) } }

  /// Starts an operation now or later. Each operation that starts must end with ``leave(_:)``.
  func enter(_ client: String, begin: @escaping @Sendable () -> Void) -> Verdict {
    let verdict: Verdict = state.withLock { state in
      if let most = state.limits.maximumOperationsPerClient {
        guard state.byClient[client, default: 0] < most else { return .clientLimitExceeded }
      }
      guard state.running >= state.limits.maximumConcurrentOperations else {
        state.running += 1
        count(client, 1, &state)
        return .begun
      }
      guard state.waiting < state.limits.maximumWaitingOperations else { return .crowded }
      state.queue.append(Waiting(client: client, begin: begin))
      count(client, 1, &state)
      return .waiting
    }
    if case .begun = verdict { begin() }
    return verdict
  }

  /// Ends an operation, and starts the one that has waited longest.
  func leave(_ client: String) {
    let next = state.withLock { state in
      count(client, -1, &state)
      // After the limit was lowered, more operations may be running than the limit allows.
      let next = state.running <= state.limits.maximumConcurrentOperations ? state.next() : nil
      if next == nil { state.running -= 1 }
      return next
    }
    next?.begin()
  }

  /// Replaces the limits. Operations in progress and in the queue stay.
  func set(_ limits: GatewayLimits) {
    let begun = state.withLock { state in
      state.limits = limits
      // Without a limit, operations of a client are not counted any more.
      if limits.maximumOperationsPerClient == nil { state.byClient = [:] }
      var begun: [Waiting] = []
      while state.running < limits.maximumConcurrentOperations, let next = state.next() {
        state.running += 1
        begun.append(next)
      }
      return begun
    }
    for operation in begun { operation.begin() }
  }

  private func count(_ client: String, _ change: Int, _ state: inout State) {
    guard state.limits.maximumOperationsPerClient != nil else { return }
    let count = state.byClient[client, default: 0] + change
    state.byClient[client] = count > 0 ? count : nil
  }
}

extension RequestRefusal {
  /// The reason for the end of subscriptions, and the refusal of operations over a WebSocket, when the gateway shuts down.
  static let shuttingDown = RequestRefusal(503, "the gateway stops; connect again", code: "SHUTTING_DOWN")

  /// The refusal when the queue is full.
  static func overloaded(_ limits: GatewayLimits) -> RequestRefusal {
    RequestRefusal(
      503,
      "\(limits.maximumConcurrentOperations) operations are in progress and \(limits.maximumWaitingOperations) wait; try again later",
      code: "OVERLOADED", headers: ["Retry-After": "1"])
  }

  /// The refusal when a client has reached its limit of operations in progress.
  static func clientLimitExceeded(_ limits: GatewayLimits) -> RequestRefusal {
    RequestRefusal(
      429,
      "this client has \(limits.maximumOperationsPerClient ?? 0) operations in progress, which is the limit; try again later",
      code: "TOO_MANY_REQUESTS", headers: ["Retry-After": "1"])
  }
}
