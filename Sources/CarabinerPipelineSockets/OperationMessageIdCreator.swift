public import Carabiner

/// Makes the ids of operations on a WebSocket. No two running operations may have the same.
///
/// A transport calls it for one operation at a time, on a thread of its own.
public protocol OperationMessageIdCreator {
  /// Returns the id for an operation that is about to be sent. If the operation is sent again on another connection, the transport
  /// requests a new id.
  func requestId() -> String
}

/// Makes ids of increasing numbers.
public typealias ApolloSequencedOperationMessageIdCreator = Carabiner.ApolloSequencedOperationMessageIdCreator

extension Carabiner.ApolloSequencedOperationMessageIdCreator: OperationMessageIdCreator {}

/// A creator of this generation for the core.
struct CalledIdCreator: Carabiner.OperationMessageIdCreator, @unchecked Sendable {
  // Creators of this generation are not Sendable. Only the event loop of the socket calls it.
  let creator: any OperationMessageIdCreator

  func requestId() -> String { creator.requestId() }
}
