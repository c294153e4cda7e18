internal import CarabinerManifest

/// The number of requests in progress in an upstream, and the queue of waiting requests.
struct UpstreamLine: Sendable {
  typealias Waiter = CheckedContinuation<Void, any Error>

  /// The place of a request.
  enum Place: Sendable, Hashable {
    case underWay
    case waiting
    case full
  }

  private let limits: Manifest.Upstream.Limits
  private(set) var underWay = 0
  private var waiters: [Int: Waiter] = [:]
  /// The numbers of the waiting requests in order. It may contain numbers of requests that were cancelled.
  private var order: [Int] = []
  private var firstInOrder = 0
  /// The maximum number of cancelled requests whose numbers stay in ``order``.
  private static let wastedNumbers = 64

  init(_ limits: Manifest.Upstream.Limits) { self.limits = limits }

  /// The number of waiting requests.
  var waiting: Int { waiters.count }

  /// Returns the place of a new request. If the request may begin at once, it is counted.
  mutating func arrive() -> Place {
    if underWay < limits.requests {
      underWay += 1
      return .underWay
    }
    return waiters.count < limits.waiting ? .waiting : .full
  }

  /// Adds a waiting request.
  mutating func wait(_ number: Int, _ waiter: Waiter) {
    waiters[number] = waiter
    order.append(number)
  }

  /// Removes a waiting request that was cancelled; nil if it does not wait.
  mutating func leaveLine(_ number: Int) -> Waiter? {
    defer { compact() }
    return waiters.removeValue(forKey: number)
  }

  /// Counts the end of a request.
  ///
  /// - Returns: The request that takes its place; nil if none waits.
  mutating func ended() -> Waiter? {
    while firstInOrder < order.count {
      let number = order[firstInOrder]
      firstInOrder += 1
      if let waiter = waiters.removeValue(forKey: number) {
        compact()
        return waiter
      }
    }
    underWay -= 1
    compact()
    return nil
  }

  private mutating func compact() {
    guard order.count > 2 * waiters.count + Self.wastedNumbers else { return }
    order = order[firstInOrder...].filter { waiters[$0] != nil }
    firstInOrder = 0
  }
}
