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

  struct Connections: ~Copyable {
    /// The idle connections, the most recently used last.
    var idle: [HTTP1Connection] = []
    /// The connections that libcurl is opening.
    var opening: [HTTP1Connection] = []
    /// The number of all connections: idle, being opened, and in use.
    var count = 0
  }

  /// The URL that libcurl connects to.
  let url: String
  /// The IP address of the server; nil to look up the host name.
  let server: String?
  let isTLS: Bool
  @safe @exclusivity(unchecked) private(set) var version: Version

  @safe @exclusivity(unchecked) var connections = Connections()
  @safe @exclusivity(unchecked) var waiting = HTTP1WaitingExchanges()

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
  var isUnused: Bool { connections.count == 0 && waiting.count == 0 }

  /// Forgets all connections and exchanges, which hold the origin.
  func removeAll() {
    connections.idle = []
    connections.opening = []
    waiting = HTTP1WaitingExchanges()
  }
}
