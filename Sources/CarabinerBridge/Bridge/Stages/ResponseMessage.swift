internal import CCarabiner
internal import CarabinerABI

/// A message whose response comes back in elements: results of an operation, or pieces of a body.
///
/// It contains the differences between these kinds. The way back itself is the same for both, see ``ResponsePipeline``.
protocol ResponseMessage: HookMessage {
  associatedtype Element: Sendable

  /// Whether elements go on to the caller. After that, the request is not started again.
  static var reachesCaller: Bool { get }

  /// The error that starts the request again.
  var retry: any Error { get }

  /// Applies the changes of headers that `on_request` staged, and removes them from the effects.
  mutating func takeHeaderEdits(of call: GroupCall)

  /// Applies the effects that `on_request` staged. The setters have checked them.
  mutating func apply(_ effects: StagedEffects)

  /// An event with all parts of an element that any stage asked for, in memory of the step.
  ///
  /// - Throws: ``PluginError`` if there is no memory.
  func event(for element: Element, _ sequence: UInt64, in call: GroupCall) throws(PluginError) -> ElementEvent

  /// Shows the event to the stages from number `last` outward.
  ///
  /// - Returns: The first hook with an outcome, for ``GroupCall/outcome(of:_:)``; nil if every stage let the element pass.
  /// - Throws: ``PluginError`` if there is no memory.
  func ascend(_ event: ElementEvent, in call: GroupCall, from last: Int) throws(PluginError) -> HookInvocation?

  /// The element that a plugin staged.
  ///
  /// - Parameter original: The element that it replaces, if it replaces one.
  func element(of staged: StagedEffects.Element, replacing original: Element?) throws -> Element
}

/// The event of an element, `crb_result` or `crb_chunk`. It is valid until the step ends.
@safe struct ElementEvent {
  let memory: UnsafeRawPointer
}
