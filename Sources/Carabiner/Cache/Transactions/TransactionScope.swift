internal import Synchronization

/// Marks the task that runs a transaction, so that one inside another is refused and does not wait for itself.
final class TransactionScope: Sendable {
  @TaskLocal static var current: [TransactionScope] = []

  private let store: ObjectIdentifier
  private let isOpen = Atomic<Bool>(true)

  init(_ store: ApolloStore) { self.store = ObjectIdentifier(store) }

  /// What a task started inside inherits is no obstacle once the transaction is over.
  func close() { isOpen.store(false, ordering: .releasing) }

  /// - Throws: ``StoreError`` with code `transactionEnded`.
  func checkOpen() throws {
    guard isOpen.load(ordering: .acquiring) else {
      throw StoreError(.transactionEnded, "the transaction is over; use it only inside the closure it was given to")
    }
  }

  /// - Throws: ``StoreError`` with code `reentrantTransaction`.
  static func checkOutside(_ store: ApolloStore) throws {
    let scopes = current
    guard !scopes.isEmpty else { return }
    let id = ObjectIdentifier(store)
    guard !scopes.contains(where: { $0.store == id && $0.isOpen.load(ordering: .acquiring) }) else {
      throw StoreError(
        .reentrantTransaction, "the store was used inside a transaction of its own; use the transaction the closure was given")
    }
  }
}
