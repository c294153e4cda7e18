internal import NIOCore
internal import Synchronization

/// The response bytes of one connection that are not sent yet.
final class UnsentBytes: Sendable {
  /// An event that closes a connection because its unsent responses use too much memory.
  struct Overflow: Sendable {}

  private let total: UnsentTotal
  let channel: any Channel
  private let count = Atomic<Int>(0)

  init(_ channel: any Channel, of total: UnsentTotal) {
    self.channel = channel
    self.total = total
  }

  /// The number of unsent bytes.
  var waiting: Int { count.load(ordering: .relaxed) }

  /// Adds the bytes of a part of a response. Returns false, and adds nothing, if the connection's limit is reached and other
  /// responses may follow.
  ///
  /// If the responses of a connection come one at a time, none is refused here. The size of one response is limited where the
  /// upstream's response is read.
  ///
  /// - Parameter isOneOfMany: Whether other responses of the connection may be produced before this one is sent.
  func add(_ bytes: Int, isOneOfMany: Bool) -> Bool {
    let before = count.wrappingAdd(bytes, ordering: .relaxed).oldValue
    guard before < total.maximumPerConnection || !isOneOfMany else {
      count.wrappingSubtract(bytes, ordering: .relaxed)
      return false
    }
    total.add(bytes, self, crossesShare: before < UnsentTotal.share && before + bytes >= UnsentTotal.share)
    return true
  }

  /// Subtracts the bytes of a part that was sent or discarded.
  func remove(_ bytes: Int) {
    let after = count.wrappingSubtract(bytes, ordering: .relaxed).newValue
    total.remove(bytes, self, crossesShare: after < UnsentTotal.share && after + bytes >= UnsentTotal.share)
  }

  fileprivate func overflow() { channel.pipeline.fireUserInboundEventTriggered(Overflow()) }
}

/// The unsent response bytes of all connections of a gateway.
package final class UnsentTotal: Sendable {
  /// The number of unsent bytes from which a connection may be closed when the total exceeds its limit.
  fileprivate static let share = 64 << 10

  private let mostPerConnection: Atomic<Int>
  private let most: Atomic<Int>
  private let count = Atomic<Int>(0)
  /// The connections with at least this share.
  private let large = Mutex<[ObjectIdentifier: UnsentBytes]>([:])

  package init(_ limits: GatewayLimits) {
    mostPerConnection = Atomic(limits.maximumUnsentPerConnection)
    most = Atomic(limits.maximumUnsent)
  }

  /// Replaces the limits.
  package func set(_ limits: GatewayLimits) {
    mostPerConnection.store(limits.maximumUnsentPerConnection, ordering: .relaxed)
    most.store(limits.maximumUnsent, ordering: .relaxed)
  }

  fileprivate var maximumPerConnection: Int { mostPerConnection.load(ordering: .relaxed) }

  /// The number of unsent bytes.
  package var waiting: Int { count.load(ordering: .relaxed) }

  fileprivate func add(_ bytes: Int, _ connection: UnsentBytes, crossesShare: Bool) {
    if crossesShare { large.withLock { $0[ObjectIdentifier(connection)] = connection } }
    let waiting = count.wrappingAdd(bytes, ordering: .relaxed).newValue
    if waiting > most.load(ordering: .relaxed) { largest()?.overflow() }
  }

  fileprivate func remove(_ bytes: Int, _ connection: UnsentBytes, crossesShare: Bool) {
    if crossesShare { large.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) } }
    count.wrappingSubtract(bytes, ordering: .relaxed)
  }

  /// Removes and returns the connection with the most unsent bytes. It is removed so that it is closed only once, although its
  /// bytes are released later.
  private func largest() -> UnsentBytes? {
    large.withLock { large in
      guard let (id, connection) = large.max(by: { $0.value.waiting < $1.value.waiting }) else { return nil }
      large[id] = nil
      return connection
    }
  }
}
