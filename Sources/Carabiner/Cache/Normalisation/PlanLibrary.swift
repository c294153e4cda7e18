internal import Synchronization

/// The plans of recently used documents.
///
/// The plans are in two generations: a used plan moves to the young one. When the young one is full, the old one is discarded.
final class PlanLibrary: Sendable {
  /// The plans of all stores.
  static let shared = PlanLibrary()

  private static var maximumPlans: Int { 256 }
  private static var maximumBytes: Int { 4 << 20 }

  /// Names a plan.
  struct Key: Hashable, Sendable {
    let document: String
    let operationName: String?

    /// Documents are long, so only a sample of the bytes is hashed.
    func hash(into hasher: inout Hasher) {
      let bytes = document.utf8Span.span
      hasher.combine(bytes.count)
      hasher.combine(operationName)
      let step = bytes.count / 24 + 1
      var (sample, offset): (UInt64, Int) = (0, 0)
      while offset < bytes.count {
        sample = (sample &<< 5 | sample &>> 59) ^ UInt64(bytes[offset])
        offset += step
      }
      hasher.combine(sample)
    }
  }

  private struct State {
    var young: [Key: OperationPlan?] = [:]
    var old: [Key: OperationPlan?] = [:]
    var youngBytes = 0
  }

  private let state = Mutex(State())

  /// The plan of an operation; nil if its document cannot have one.
  func plan(document: String, operationName: String?) -> OperationPlan? {
    plan(for: Key(document: document, operationName: operationName)) {
      try OperationPlan(document: document, operationName: operationName)
    }
  }

  /// The plan of a fragment, the first of its document if it has no name; nil if its document cannot have one.
  func fragmentPlan(document: String, name: String?) -> OperationPlan? {
    // The name of an operation cannot contain dots.
    plan(for: Key(document: document, operationName: "...\(name ?? "")")) {
      try OperationPlan(document: document, fragmentName: name)
    }
  }

  @inline(__always) private func plan(for key: Key, _ make: () throws -> OperationPlan) -> OperationPlan? {
    if let known = state.withLock({ Self.find(key, in: &$0) }) { return known }
    let plan = try? make()
    state.withLock { Self.keep(plan, for: key, in: &$0) }
    return plan
  }

  private static func find(_ key: Key, in state: inout State) -> OperationPlan?? {
    if let plan = state.young[key] { return plan }
    guard let plan = state.old[key] else { return nil }
    keep(plan, for: key, in: &state)
    return plan
  }

  private static func keep(_ plan: OperationPlan?, for key: Key, in state: inout State) {
    let bytes = key.document.utf8.count
    if state.young.count >= maximumPlans / 2 || state.youngBytes + bytes > maximumBytes / 2 {
      (state.old, state.young, state.youngBytes) = (state.young, [:], 0)
    }
    state.young[key] = .some(plan)
    state.youngBytes += bytes
  }
}
