internal import NIOCore
internal import Synchronization

/// The bytes of answers that wait until the client of one connection takes them.
final class UnsentBytes: Sendable {
  /// Ends a connection whose answers fill the memory of the gateway.
  struct Overflow: Sendable {}

  private let total: UnsentTotal
  private let channel: any Channel
  private let count = Atomic<Int>(0)

  init(_ channel: any Channel, of total: UnsentTotal) {
    self.channel = channel
    self.total = total
  }

  /// How many bytes wait.
  var waiting: Int { count.load(ordering: .relaxed) }

  /// Counts a part of an answer; false if as much waits already as may.
  ///
  /// The size of one answer is limited where the upstream's is read.
  ///
  /// - Parameter isOneOfMany: Whether further answers may be made for the connection before this one has left.
  func add(_ bytes: Int, isOneOfMany: Bool) -> Bool {
    let before = count.wrappingAdd(bytes, ordering: .relaxed).oldValue
    guard before < total.maximumPerConnection || !isOneOfMany else {
      count.wrappingSubtract(bytes, ordering: .relaxed)
      return false
    }
    total.add(bytes, self, crossesShare: before < UnsentTotal.share && before + bytes >= UnsentTotal.share)
    return true
  }

  /// Counts a part that has left, or will not.
  func remove(_ bytes: Int) {
    let after = count.wrappingSubtract(bytes, ordering: .relaxed).newValue
    total.remove(bytes, self, crossesShare: after < UnsentTotal.share && after + bytes >= UnsentTotal.share)
  }

  fileprivate func overflow() { channel.pipeline.fireUserInboundEventTriggered(Overflow()) }
}

/// The bytes of answers that wait for the clients of all connections of a gateway.
package final class UnsentTotal: Sendable {
  /// How many bytes a connection may have waiting before it can be ended because of all of them together.
  fileprivate static let share = 64 << 10

  fileprivate let maximumPerConnection: Int
  private let maximum: Int
  private let count = Atomic<Int>(0)
  /// The connections that have more than their share.
  private let large = Mutex<[ObjectIdentifier: UnsentBytes]>([:])

  package init(_ limits: GatewayLimits) {
    maximumPerConnection = limits.maximumUnsentPerConnection
    maximum = limits.maximumUnsent
  }

  /// How many bytes wait.
  package var waiting: Int { count.load(ordering: .relaxed) }

  fileprivate func add(_ bytes: Int, _ connection: UnsentBytes, crossesShare: Bool) {
    if crossesShare { large.withLock { $0[ObjectIdentifier(connection)] = connection } }
    let waiting = count.wrappingAdd(bytes, ordering: .relaxed).newValue
    if waiting > maximum { largest()?.overflow() }
  }

  fileprivate func remove(_ bytes: Int, _ connection: UnsentBytes, crossesShare: Bool) {
    if crossesShare { large.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) } }
    count.wrappingSubtract(bytes, ordering: .relaxed)
  }

  /// Takes out the connection that holds most: it is ended once, though its bytes leave later.
  private func largest() -> UnsentBytes? {
    large.withLock { large in
      guard let (id, connection) = large.max(by: { $0.value.waiting < $1.value.waiting }) else { return nil }
      large[id] = nil
      return connection
    }
  }
}
