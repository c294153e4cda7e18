/// A step of a chain.
public protocol ChainStage: Sendable {
  /// The name of this step in traces. The default implementation returns the name of its type.
  var stageName: String { get }

  /// What the chain may assume about this step. The default implementation returns nothing.
  var traits: InterceptorHints { get }
}

extension ChainStage {
  public var stageName: String { String(describing: type(of: self)) }
  public var traits: InterceptorHints { [] }
}
