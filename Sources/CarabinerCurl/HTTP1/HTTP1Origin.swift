internal import Carabiner

/// The connections to one scheme, host and port, and the exchanges that wait for one. Used only on the event loop's thread.
final class HTTP1Origin: @unchecked Sendable {
  // The pool and the engine use it on the loop's thread only, so the runtime need not check each access.

  /// The version of HTTP that the server chose.
  enum Version {
    /// No response has arrived. The first one over TLS comes over libcurl, which offers HTTP/2.
    case unknown
    case http1
    case other
  }

  /// The URL that libcurl connects to.
  let url: String
  /// The IP address of the server; nil to look up the host name.
  let server: String?
  let isTLS: Bool
  @safe @exclusivity(unchecked) private(set) var version: Version

  /// The idle connections. The last one became idle last.
  @safe @exclusivity(unchecked) var idle: [HTTP1Connection] = []
  /// The connections that libcurl is opening.
  @safe @exclusivity(unchecked) var connecting: [HTTP1Connection] = []
  /// The number of all connections: idle, being opened, and in use.
  @safe @exclusivity(unchecked) var connectionCount = 0
  /// Nil where an exchange was taken.
  @safe @exclusivity(unchecked) private var waiting: [HTTP1Exchange?] = []
  /// The index of the first exchange that may wait.
  @safe @exclusivity(unchecked) private var firstWaiting = 0
  /// The number of exchanges that wait. Those that were aborted are removed later.
  @safe @exclusivity(unchecked) private(set) var waitingCount = 0

  init(_ address: HTTP1Address, at server: String? = nil, offersHTTP2: Bool) {
    self.server = server
    url = address.origin
    isTLS = address.isTLS
    version = address.isTLS && offersHTTP2 ? .unknown : .http1
  }

  /// Remembers the version of a response.
  func learn(_ version: HTTPURLResponse.Version) {
    guard self.version == .unknown else { return }
    self.version = version == .http10 || version == .http11 ? .http1 : .other
  }

  /// Whether nothing is lost if the origin is forgotten.
  var isUnused: Bool { connectionCount == 0 && waitingCount == 0 }

  // MARK: Waiting exchanges

  var nextWaiting: HTTP1Exchange? {
    while firstWaiting < waiting.count {
      if let exchange = waiting[firstWaiting], exchange.isWaiting { return exchange }
      firstWaiting += 1
    }
    waiting.removeAll(keepingCapacity: true)
    firstWaiting = 0
    return nil
  }

  func append(_ exchange: HTTP1Exchange) {
    exchange.isWaiting = true
    waiting.append(exchange)
    waitingCount += 1
  }

  func takeWaiting() -> HTTP1Exchange? {
    guard let exchange = nextWaiting else { return nil }
    exchange.isWaiting = false
    waiting[firstWaiting] = nil
    firstWaiting += 1
    waitingCount -= 1
    compactWaiting()
    return exchange
  }

  /// Removes an exchange that was aborted.
  func remove(_ exchange: HTTP1Exchange) {
    guard exchange.isWaiting else { return }
    exchange.isWaiting = false
    waitingCount -= 1
    compactWaiting()
  }

  /// Forgets all connections and exchanges, which hold the origin.
  func removeAll() {
    idle = []
    connecting = []
    waiting = []
    (firstWaiting, waitingCount) = (0, 0)
  }

  /// Up to this many finished entries are kept.
  private static let wastedEntries = 64

  private func compactWaiting() {
    guard waiting.count - waitingCount > max(Self.wastedEntries, waitingCount) else { return }
    waiting.removeAll { $0?.isWaiting != true }
    firstWaiting = 0
  }
}
