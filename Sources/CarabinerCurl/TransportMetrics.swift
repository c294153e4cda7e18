internal import Synchronization

/// A snapshot of a transport's counters of connections and requests.
public struct TransportMetrics: Sendable, Hashable {
  /// The number of opened connections, failed attempts included.
  public var connectionsOpened = 0
  /// The number of closed connections.
  public var connectionsClosed = 0
  /// The number of started requests. Each redirect counts as one.
  public var requestsBegun = 0
  /// The number of requests that have ended, successful or not.
  public var requestsEnded = 0
  /// The number of requests over a reused connection.
  public var requestsOnKeptConnections = 0

  /// Creates counters at 0.
  public init() {}

  /// The number of open connections.
  public var openConnections: Int { max(0, connectionsOpened - connectionsClosed) }
  /// The number of running requests.
  public var runningRequests: Int { max(0, requestsBegun - requestsEnded) }
  /// The number of idle connections. With HTTP/2, where requests share connections, it is an upper bound.
  public var idleConnections: Int { max(0, openConnections - runningRequests) }
}

/// The atomic counters of ``TransportMetrics``. The loop's thread increments them; any thread reads them.
final class TransportCounters: Sendable {
  private let connectionsOpened = Atomic<Int>(0)
  private let connectionsClosed = Atomic<Int>(0)
  private let requestsBegun = Atomic<Int>(0)
  private let requestsEnded = Atomic<Int>(0)
  private let requestsOnKeptConnections = Atomic<Int>(0)

  var metrics: TransportMetrics {
    var metrics = TransportMetrics()
    // Ends are read before starts, so that something that ends in between counts as running.
    metrics.connectionsClosed = connectionsClosed.load(ordering: .acquiring)
    metrics.connectionsOpened = connectionsOpened.load(ordering: .relaxed)
    metrics.requestsEnded = requestsEnded.load(ordering: .acquiring)
    metrics.requestsBegun = requestsBegun.load(ordering: .relaxed)
    metrics.requestsOnKeptConnections = requestsOnKeptConnections.load(ordering: .relaxed)
    return metrics
  }

  func connectionOpened() { connectionsOpened.add(1, ordering: .relaxed) }

  func connectionClosed() { connectionsClosed.add(1, ordering: .releasing) }

  func requestBegan() { requestsBegun.add(1, ordering: .relaxed) }

  func requestEnded(onKeptConnection: Bool) {
    if onKeptConnection { requestsOnKeptConnections.add(1, ordering: .relaxed) }
    requestsEnded.add(1, ordering: .releasing)
  }
}
