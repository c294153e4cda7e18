internal import Synchronization

/// The completed documents of a store, so that each is completed only once.
final class CompletedDocuments: Sendable {
  /// The maximum number of stored documents. Documents of typed operations are part of a program, so there are few.
  private static var maximumDocuments: Int { 1000 }

  private let policy: CacheKeyPolicy
  private let known = Mutex<[PlanLibrary.Key: String?]>([:])

  init(policy: CacheKeyPolicy) { self.policy = policy }

  /// The completed document; nil if nothing is missing.
  func completed(_ document: String) -> String? {
    let key = PlanLibrary.Key(document: document, operationName: nil)
    if let known = known.withLock({ $0[key] }) { return known }
    let completed = DocumentCompletion.completed(document, policy: policy)
    known.withLock { known in
      if known.count >= Self.maximumDocuments { known.removeAll() }
      known[key] = .some(completed)
    }
    return completed
  }
}
