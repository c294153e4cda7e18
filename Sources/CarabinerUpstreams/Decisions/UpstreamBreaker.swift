internal import CarabinerManifest

/// The circuit breaker of an upstream. It opens if too many requests fail. Times are measured from any fixed instant.
struct UpstreamBreaker: Sendable {
  /// The permission of a request to begin.
  enum Pass: Sendable, Hashable {
    case normal
    /// The only request that tries an upstream whose breaker was open.
    case trial
  }

  private struct Slice: Sendable {
    var number: Int
    var requests = 0
    var failures = 0
  }

  /// The window moves in this many steps.
  private static let slices = 10

  private let settings: Manifest.Upstream.Breaker
  private var counted: [Slice] = []
  /// The time at which a trial may begin; nil if the breaker is closed.
  private var openUntil: Duration?
  private var isTrialUnderWay = false

  init(_ settings: Manifest.Upstream.Breaker) { self.settings = settings }

  /// Whether requests other than trials are refused.
  var isOpen: Bool { openUntil != nil }

  /// Lets a request through; nil if the breaker is open.
  mutating func admit(at now: Duration) -> Pass? {
    guard let openUntil else { return .normal }
    guard now >= openUntil, !isTrialUnderWay else { return nil }
    isTrialUnderWay = true
    return .trial
  }

  /// Records the end of a request.
  ///
  /// - Parameter isFailure: Nil if the request does not show whether the upstream works, for example because it was cancelled.
  mutating func ended(_ pass: Pass, isFailure: Bool?, at now: Duration) {
    if pass == .trial {
      isTrialUnderWay = false
      switch isFailure {
      case true?: openUntil = now + settings.openTime
      case false?: (openUntil, counted) = (nil, [])
      case nil: break
      }
      return
    }
    guard let isFailure, !isOpen else { return }
    count(isFailure, at: now)
    let (requests, failures) = counted.reduce((0, 0)) { ($0.0 + $1.requests, $0.1 + $1.failures) }
    guard requests >= settings.minimum, Double(failures) >= settings.share * Double(requests) else { return }
    (openUntil, counted) = (now + settings.openTime, [])
  }

  private mutating func count(_ isFailure: Bool, at now: Duration) {
    let number = Int(now / settings.window * Double(Self.slices))
    counted.removeAll { $0.number <= number - Self.slices }
    if counted.last?.number != number { counted.append(Slice(number: number)) }
    counted[counted.count - 1].requests += 1
    if isFailure { counted[counted.count - 1].failures += 1 }
  }
}
