/// The idempotency of a method, as its definition declares it.
public enum IdempotencyLevel: Equatable, Sendable {
  /// The definition declares none.
  case unknown
  /// The method changes nothing. It may be called with GET.
  case noSideEffects
  /// The method has the same effect once and several times.
  case idempotent
}
