/// A step of a chain.
public protocol ChainStage: Sendable {
  /// The name of this step in traces. The default implementation returns the name of its type.
  var stageName: String { get }

  /// The properties of this step that the chain may rely on. The default implementation returns none.
  var traits: InterceptorHints { get }
}

extension ChainStage {
  public var stageName: String { String(describing: type(of: self)) }
  public var traits: InterceptorHints { [] }
}
