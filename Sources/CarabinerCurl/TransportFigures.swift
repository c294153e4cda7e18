internal import Synchronization

/// What a transport counts of its connections and requests, at one moment.
public struct TransportFigures: Sendable, Hashable {
  /// How many connections were made, failed attempts included.
  public var connectionsOpened = 0
  /// How many of them are closed again.
  public var connectionsClosed = 0
  /// How many requests were begun; each step of a redirect is one.
  public var requestsBegun = 0
  /// How many of them have ended, in whatever way.
  public var requestsEnded = 0
  /// How many went over a connection that had served before.
  public var requestsOnKeptConnections = 0

  /// Nothing counted yet.
  public init() {}

  /// How many connections there are.
  public var openConnections: Int { max(0, connectionsOpened - connectionsClosed) }
  /// How many requests are under way.
  public var runningRequests: Int { max(0, requestsBegun - requestsEnded) }
  /// How many connections wait for a request; with HTTP/2, where several requests share one, no more than this.
  public var idleConnections: Int { max(0, openConnections - runningRequests) }
}

/// Counts what ``TransportFigures`` tell; the loop's thread adds and anybody reads.
final class TransportCounters: Sendable {
  private let connectionsOpened = Atomic<Int>(0)
  private let connectionsClosed = Atomic<Int>(0)
  private let requestsBegun = Atomic<Int>(0)
  private let requestsEnded = Atomic<Int>(0)
  private let requestsOnKeptConnections = Atomic<Int>(0)

  var figures: TransportFigures {
    var figures = TransportFigures()
    // Ends before beginnings: what ends in between was under way.
    figures.connectionsClosed = connectionsClosed.load(ordering: .acquiring)
    figures.connectionsOpened = connectionsOpened.load(ordering: .relaxed)
    figures.requestsEnded = requestsEnded.load(ordering: .acquiring)
    figures.requestsBegun = requestsBegun.load(ordering: .relaxed)
    figures.requestsOnKeptConnections = requestsOnKeptConnections.load(ordering: .relaxed)
    return figures
  }

  func connectionOpened() { connectionsOpened.add(1, ordering: .relaxed) }

  func connectionClosed() { connectionsClosed.add(1, ordering: .releasing) }

  func requestBegan() { requestsBegun.add(1, ordering: .relaxed) }

  func requestEnded(onKeptConnection: Bool) {
    if onKeptConnection { requestsOnKeptConnections.add(1, ordering: .relaxed) }
    requestsEnded.add(1, ordering: .releasing)
  }
}
