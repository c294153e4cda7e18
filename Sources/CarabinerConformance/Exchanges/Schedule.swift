/// An order of the events of a hook that suspends.
///
/// Events before the hook's return happen on another thread, when the plugin has taken its token and asked a service of the host to
/// wake it. The hook waits there until they have ended, so every order is played exactly.
struct Schedule: Sendable, Hashable, CustomStringConvertible {
  enum Event: String, Sendable, Hashable, CaseIterable {
    /// The services that the plugin waits for answer, so that it can resume.
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
