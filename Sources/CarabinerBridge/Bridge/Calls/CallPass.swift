package import Carabiner

/// A pass of a message through the stages: the message, the effects that hooks staged, and the baggage.
///
/// It cannot be copied, because a copy would count references at each hook.
package struct CallPass: ~Copyable {
  /// The values that the plugin stages of the request share; nil between passes.
  package private(set) var shared: PluginCall?
  /// The message that hooks see in this step; nil between steps.
  var message: (any HookMessage & AnyObject)?
  var staged = StagedEffects()
  /// Baggage for the stages further in.
  var innerBaggage = Baggage()
  /// Baggage from further out, for example from the caller or an interceptor in Swift.
  private var scopeBaggage = Baggage()

  mutating func begin(_ shared: PluginCall) {
    self.shared = shared
    scopeBaggage = Baggage.current
    if !innerBaggage.isEmpty { innerBaggage = Baggage() }
  }

  mutating func end() { shared = nil }

  /// Forgets what the last pass left.
  mutating func reset() {
    staged.reset()
    if !innerBaggage.isEmpty { innerBaggage = Baggage() }
    if !scopeBaggage.isEmpty { scopeBaggage = Baggage() }
  }

  /// The innermost visible value of the baggage.
  package func visibleBaggage(_ name: String) -> Baggage.Value? {
    innerBaggage[name] ?? scopeBaggage[name] ?? shared?.baggage[name]
  }
}
