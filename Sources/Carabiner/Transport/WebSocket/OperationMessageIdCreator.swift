internal import Synchronization

/// Makes the ids of operations on a WebSocket. No two running operations may have the same.
public protocol OperationMessageIdCreator: Sendable {
  /// The id of an operation that is about to be sent. It is asked again if the operation is sent again on another connection.
  func requestId() -> String
}

/// Makes ids of increasing numbers.
public final class ApolloSequencedOperationMessageIdCreator: OperationMessageIdCreator {
  private let next: Atomic<Int>

  /// A creator whose first id is `sequenceNumber`.
  public init(startAt sequenceNumber: Int = 1) { next = Atomic(sequenceNumber) }

  public func requestId() -> String { String(next.wrappingAdd(1, ordering: .relaxed).oldValue) }
}
