/// An order of the things that can happen to a hook that suspends.
///
/// What comes before the hook's return happens when the plugin has taken its token and asked a service of the host to wake it, on
/// another thread and to its end, while the hook stands still there: so every order is played, and the same one each time.
struct Schedule: Sendable, Hashable, CustomStringConvertible {
  enum Event: String, Sendable, Hashable, CaseIterable {
    /// The services the plugin waits for answer, so that it can resume.
    case wake
    /// The call is cancelled.
    case cancel
    /// The time of the hook is over and its token is revoked.
    case revoke
  }

  let beforeReturn: [Event]
  let afterReturn: [Event]

  var description: String {
    (beforeReturn.map(\.rawValue) + ["return"] + afterReturn.map(\.rawValue)).joined(separator: ", ")
  }

  /// Every order of every selection of the events, with the return at every place.
  static let all: [Schedule] = {
    var orders: [[Event]] = [[]]
    for _ in Event.allCases {
      orders += orders.flatMap { order in Event.allCases.filter { !order.contains($0) }.map { order + [$0] } }
    }
    var seen: Set<Schedule> = []
    return orders.filter { !$0.isEmpty }.flatMap { order in
      (0...order.count).map { Schedule(beforeReturn: Array(order[..<$0]), afterReturn: Array(order[$0...])) }
    }.filter { seen.insert($0).inserted }
  }()
}
