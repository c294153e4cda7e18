internal import Synchronization

/// Makes the ids of operations on a WebSocket. No two running operations may have the same.
public protocol OperationMessageIdCreator: Sendable {
  /// Returns the id for an operation that is about to be sent. If the operation is sent again on another connection, the transport
  /// requests a new id.
  func requestId() -> String
}

/// Makes ids of increasing numbers.
public final class ApolloSequencedOperationMessageIdCreator: OperationMessageIdCreator {
  private let next: Atomic<Int>

  /// A creator whose first id is `sequenceNumber`.
  public init(startAt sequenceNumber: Int = 1) { next = Atomic(sequenceNumber) }

  public func requestId() -> String { String(next.wrappingAdd(1, ordering: .relaxed).oldValue) }
}
