/// The exchanges that wait for a connection to an origin, in order.
struct HTTP1WaitingExchanges: ~Copyable {
  /// Nil where an exchange was taken.
  private var exchanges: [HTTP1Exchange?] = []
  /// The index of the first exchange that may wait.
  private var first = 0
  /// The number of exchanges that wait. Those that were aborted are removed later.
  private(set) var count = 0

  /// The first exchange, which stays in the list.
  mutating func peek() -> HTTP1Exchange? {
    while first < exchanges.count {
      if let exchange = exchanges[first], exchange.isWaiting { return exchange }
      first += 1
    }
    exchanges.removeAll(keepingCapacity: true)
    first = 0
    return nil
  }

  mutating func append(_ exchange: HTTP1Exchange) {
    exchange.isWaiting = true
    exchanges.append(exchange)
    count += 1
  }

  mutating func take() -> HTTP1Exchange? {
    guard let exchange = peek() else { return nil }
    exchange.isWaiting = false
    exchanges[first] = nil
    first += 1
    count -= 1
    compact()
    return exchange
  }

  /// Removes an exchange that was aborted.
  mutating func remove(_ exchange: HTTP1Exchange) {
    guard exchange.isWaiting else { return }
    exchange.isWaiting = false
    count -= 1
    compact()
  }

  /// Up to this many finished entries are kept.
  private static let wastedEntries = 64

  private mutating func compact() {
    guard exchanges.count - count > max(Self.wastedEntries, count) else { return }
    exchanges.removeAll { $0?.isWaiting != true }
    first = 0
  }
}
