internal import Carabiner
internal import CarabinerWire
internal import NIOCore
internal import Synchronization

/// Limits the request rate per client with a token bucket.
///
/// A bucket is stored as one number, the time at which it will be full again (generic cell rate algorithm). Clients are stored by
/// a hash of their key in two generations. When the younger one is full, it becomes the older one, and the previous older one is
/// discarded. So the clients that have been inactive longest are forgotten.
final class RateLimiter: Sendable {
  /// The minimum number of clients that are stored. A forgotten client has a full bucket.
  static let rememberedClients = 100_000

  /// The decision about a request.
  enum Verdict: Sendable, Hashable {
    case allowed
    /// The client may retry after this time.
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
  ///   - capacity: The minimum number of clients that are stored.
  ///   - now: The time of a monotonic clock, in nanoseconds.
  init(
    _ rate: RequestRate, capacity: Int = RateLimiter.rememberedClients,
    now: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }
  ) {
    self.rate = rate
    self.capacity = max(1, capacity)
    self.now = now
  }

  /// The number of stored clients.
  var clientCount: Int { state.withLock { $0.young.count + $0.old.count } }

  /// Takes tokens from a client's bucket.
  ///
  /// - Parameter tokens: The number of tokens. More than the capacity are taken from a full bucket, which then stays empty for
  ///   longer.
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
      // Refused requests also count as activity, so a client that keeps sending is not forgotten.
      state.young[key] = isAllowed ? full &+ UInt64(tokens) &* rate.nanosecondsPerToken : full
      return isAllowed ? .allowed : .refused(.nanoseconds(Int64(clamping: full - now - room)))
    }
  }

  /// The key that a request is counted for: the value of the configured field, or else the network of the address.
  ///
  /// - Throws: A refusal if the request has the field twice. Otherwise a client could add a field to that of a proxy, and choose
  ///   its key.
  static func key(_ headers: HTTPHeaders, _ client: String, field: String?) throws(RequestRefusal) -> String {
    guard let field, let value = headers[field] else { return network(of: client) }
    guard headers.values(for: field).count == 1 else {
      throw RequestRefusal(
        400, "\(field) identifies the client, and the request has it more than once; send it once", code: "CLIENT_KEY_REPEATED")
    }
    return "\(field) \(value)"
  }

  /// The IPv4 address, or the /64 network of an IPv6 address, because one subscriber usually has all addresses of such a network.
  static func network(of address: String) -> String {
    guard address.contains(":") else { return address }
    let mapped = "::ffff:"
    if address.hasPrefix(mapped), address.contains(".") { return String(address.dropFirst(mapped.count)) }
    // "::" replaces the groups of zeros that are missing.
    let halves = address.replacing("::", with: "|", maxReplacements: 1).split(separator: "|", omittingEmptySubsequences: false)
    let (front, back) = (halves.first?.split(separator: ":") ?? [], halves.dropFirst().first?.split(separator: ":") ?? [])
    let zeros = Array(repeating: Substring("0"), count: max(0, 8 - front.count - back.count))
    return (front + zeros + back).prefix(4).joined(separator: ":")
  }
}
