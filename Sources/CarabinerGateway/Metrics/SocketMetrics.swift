internal import CarabinerWire
internal import Synchronization

/// The WebSocket metrics of a gateway.
final class SocketMetrics: Sendable {
  /// How an operation ended.
  enum Outcome: String, CaseIterable, Sendable {
    case completed
    /// It ended with an error, with or without earlier results.
    case failed
    /// The client ended it or disconnected.
    case cancelled
    /// It was not started.
    case refused
  }

  private let opened = AtomicCount()
  private let closed = AtomicCount()
  private let ends = Outcome.allCases.map { _ in AtomicCount() }
  private let running = Atomic<Int>(0)
  private let closes = Mutex<[UInt16: UInt64]>([:])

  func socketOpened() { opened.add() }
  func socketClosed() { closed.add() }
  func began() { running.add(1, ordering: .relaxed) }

  /// Counts the end of an operation that was started.
  func ended(_ outcome: Outcome) {
    running.subtract(1, ordering: .relaxed)
    count(outcome)
  }

  /// Counts an operation that was not started.
  func refused() { count(.refused) }

  /// Counts a WebSocket that the gateway closed.
  func closing(_ code: WebSocketCloseCode) { closes.withLock { $0[code.rawValue, default: 0] += 1 } }

  private func count(_ outcome: Outcome) {
    for (index, other) in Outcome.allCases.enumerated() where other == outcome { ends[index].add() }
  }

  func write(to text: inout some MetricSink) {
    text.family("carabiner_websocket_connections", .gauge, "Open WebSockets of clients.")
    text.sample("carabiner_websocket_connections", [], Double(opened.value) - Double(closed.value))
    text.family("carabiner_websocket_connections_total", .counter, "WebSockets that were opened.")
    text.sample("carabiner_websocket_connections_total", [], Double(opened.value))
    text.family("carabiner_websocket_operations_running", .gauge, "Operations under way that came over WebSockets.")
    text.sample("carabiner_websocket_operations_running", [], Double(running.load(ordering: .relaxed)))
    text.family(
      "carabiner_websocket_operations_total", .counter, "Operations over WebSockets that have ended, by outcome.")
    for (outcome, count) in zip(Outcome.allCases, ends) {
      text.sample("carabiner_websocket_operations_total", [("outcome", outcome.rawValue)], Double(count.value))
    }
    text.family("carabiner_websocket_closes_total", .counter, "WebSockets the gateway closed, by close code.")
    for (code, count) in closes.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      text.sample("carabiner_websocket_closes_total", [("code", String(code))], Double(count))
    }
  }
}
