/// How often a method may run without another effect, as its definition says.
public enum IdempotencyLevel: Equatable, Sendable {
  /// The definition says nothing.
  case unknown
  /// The method changes nothing. It may be called with GET.
  case noSideEffects
  /// The method has the same effect once and several times.
  case idempotent
}
