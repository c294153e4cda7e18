internal import Synchronization

/// Marks the task that runs a transaction, so that a nested one fails at once instead of waiting for itself.
final class TransactionScope: Sendable {
  @TaskLocal static var current: [TransactionScope] = []

  private let store: ObjectIdentifier
  private let isOpen = Atomic<Bool>(true)

  init(_ store: ApolloStore) { self.store = ObjectIdentifier(store) }

  /// Ends the scope, also for child tasks that inherited it.
  func close() { isOpen.store(false, ordering: .releasing) }

  /// - Throws: ``StoreError`` with code `transactionEnded`.
  func checkOpen() throws {
    guard isOpen.load(ordering: .acquiring) else {
      throw StoreError(.transactionEnded, "the transaction has ended; use it only inside its closure")
    }
  }

  /// - Throws: ``StoreError`` with code `reentrantTransaction`.
  static func checkOutside(_ store: ApolloStore) throws {
    let scopes = current
    guard !scopes.isEmpty else { return }
    let id = ObjectIdentifier(store)
    guard !scopes.contains(where: { $0.store == id && $0.isOpen.load(ordering: .acquiring) }) else {
      throw StoreError(
        .reentrantTransaction, "the store was used inside one of its transactions; use the transaction that the closure received")
    }
  }
}
