/// The properties of a step that allow the chain to save work.
///
/// The options are for the stages of this package. They are visible with `@_spi(InterceptorHints) import Carabiner`.
public struct InterceptorHints: OptionSet, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The step reports to the tracer itself.
  @_spi(InterceptorHints) public static let tracesItself = InterceptorHints(rawValue: 1 << 0)
  /// The step never calls `next` inside a task-local binding, so the chain need not keep its scope.
  @_spi(InterceptorHints) public static let bindsNoTaskLocals = InterceptorHints(rawValue: 1 << 1)
  /// The cache step writes nothing, so it needs no records.
  @_spi(InterceptorHints) public static let keepsNothing = InterceptorHints(rawValue: 1 << 2)
  /// The HTTP step passes every request on unchanged, and needs only the head of most responses.
  ///
  /// The chain calls `passes(_:)` of such a step, and intercepts only responses that do not pass. A trace shows the step in any case.
  @_spi(InterceptorHints) public static let seesOnlyHeads = InterceptorHints(rawValue: 1 << 3)
}
