internal import CarabinerBridge
internal import Synchronization

/// The requests by `crb.fetch/1` of the instances in one process of a worker.
///
/// An instance has an account from its creation until it or the process ends. A request that asks for the account later finds none, so it
/// cannot outlive its instance.
final class FetchAccounts: Sendable {
  /// Nil once the process has ended.
  private let accounts = Mutex<[UInt32: FetchAccount]?>([:])

  /// The account of an instance; nil before its creation and after its end.
  subscript(instance: UInt32) -> FetchAccount? { accounts.withLock { $0?[instance] } }

  /// Opens the account of an instance that is created.
  func open(_ instance: UInt32) { accounts.withLock { $0?[instance] = FetchAccount() } }

  /// Cancels the requests of an instance that ends.
  func close(_ instance: UInt32) { accounts.withLock { $0?.removeValue(forKey: instance) }?.close() }

  /// Cancels all requests, because the process has ended.
  func closeAll() {
    let ended = accounts.withLock { accounts in
      defer { accounts = nil }
      return accounts
    }
    for account in (ended ?? [:]).values { account.close() }
  }
}
