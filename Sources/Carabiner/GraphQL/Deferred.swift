/// The fields of a fragment with `@defer`, which may arrive after the rest of a result.
///
/// ```swift
/// if let details = hero.fragments.details { show(details) }
/// switch hero.fragments.$details {
/// case .pending: showProgress()
/// case .fulfilled(let details): show(details)
/// case .notExecuted: break
/// }
/// ```
@propertyWrapper
public struct Deferred<Fragment: SelectionSet>: Sendable, Hashable {
  /// The progress of a fragment with `@defer`.
  public enum State: Sendable, Hashable {
    /// The server does not execute the fragment.
    case notExecuted
    /// The fields have not arrived yet.
    case pending
    /// The fields have arrived.
    case fulfilled(Fragment)
  }

  /// The state of the fragment.
  public let projectedValue: State

  /// A fragment whose fields have arrived, or are pending if they are nil.
  public init(_ fragment: Fragment?) { projectedValue = fragment.map { .fulfilled($0) } ?? .pending }

  /// The fields; nil if they have not arrived.
  public var wrappedValue: Fragment? { if case .fulfilled(let fragment) = projectedValue { fragment } else { nil } }
}
