internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// How often one client may ask: a bucket of tokens each, which fills at a rate.
///
/// A bucket is one number, the time at which it will be full again (the generic cell rate algorithm). Clients are remembered by a hash
/// of their key, in two halves: when the younger is full it becomes the older, and the older is forgotten, which are those that have
/// not asked for longest.
final class RateLimiter: Sendable {
  /// How many clients are remembered at least; a forgotten one has a full bucket.
  static let rememberedClients = 100_000

  /// What becomes of a request.
  enum Verdict: Sendable, Hashable {
    case allowed
    /// It may come again after this time.
    case refused(Duration)
  }

  private struct State {
    var young: [Int: UInt64] = [:]
    var old: [Int: UInt64] = [:]
  }

  private let rate: RequestRate
  private let capacity: Int
  private let now: @Sendable () -> UInt64
  private let state = Mutex(State())

  /// - Parameters:
  ///   - capacity: How many clients are remembered at least.
  ///   - now: The time in nanoseconds of a clock that never goes back.
  init(
    _ rate: RequestRate, capacity: Int = RateLimiter.rememberedClients,
    now: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }
  ) {
    self.rate = rate
    self.capacity = max(1, capacity)
    self.now = now
  }

  /// How many clients are remembered.
  var clientCount: Int { state.withLock { $0.young.count + $0.old.count } }

  /// Takes tokens out of a client's bucket.
  ///
  /// - Parameter tokens: How many. More than a bucket holds are taken from a full one, which then stays empty for longer.
  func take(_ tokens: Int, from key: String) -> Verdict {
    let key = key.hashValue
    let now = now()
    let room = UInt64(max(0, rate.burst - tokens)) &* rate.nanosecondsPerToken
    return state.withLock { state in
      let full = max(now, state.young[key] ?? state.old[key] ?? 0)
      let isAllowed = full - now <= room
      if state.young[key] == nil, state.young.count >= capacity {
        state.old = state.young
        state.young = [:]
      }
      // Also who is refused has asked: one that does not stop is not forgotten.
      state.young[key] = isAllowed ? full &+ UInt64(tokens) &* rate.nanosecondsPerToken : full
      return isAllowed ? .allowed : .refused(.nanoseconds(Int64(clamping: full - now - room)))
    }
  }

  /// Takes what a client may still send.
  ///
  /// - Throws: A refusal if that is not enough.
  func charge(_ operations: Int, _ headers: HTTPHeaders, _ client: String) throws(RequestRefusal) {
    guard case .refused(let time) = take(operations, from: key(headers, client)) else { return }
    throw RequestRefusal(
      429, "this client sends more than \(rate); try again when Retry-After says", code: "RATE_LIMITED",
      headers: ["Retry-After": String(time.wholeSeconds)])
  }

  /// Who a request is counted for: the value of the field that tells clients apart, or else the address.
  func key(_ headers: HTTPHeaders, _ client: String) -> String {
    if let field = rate.keyField, let value = headers.first(name: field) { return "\(field) \(value)" }
    return Self.network(of: client)
  }

  /// The address, but of IPv6 the network: whoever has one of its addresses has 2⁶⁴ of them.
  static func network(of address: String) -> String {
    guard address.contains(":") else { return address }
    let mapped = "::ffff:"
    if address.hasPrefix(mapped), address.contains(".") { return String(address.dropFirst(mapped.count)) }
    // "::" stands for as many groups of zeros as are missing.
    let halves = address.replacing("::", with: "|", maxReplacements: 1).split(separator: "|", omittingEmptySubsequences: false)
    let (front, back) = (halves.first?.split(separator: ":") ?? [], halves.dropFirst().first?.split(separator: ":") ?? [])
    let zeros = Array(repeating: Substring("0"), count: max(0, 8 - front.count - back.count))
    return (front + zeros + back).prefix(4).joined(separator: ":")
  }
}

extension Duration {
  /// The seconds after which all of it has passed.
  fileprivate var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
