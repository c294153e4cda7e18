public import FoundationEssentials

/// Receives an event for each step of a request. `carabiner run --trace` uses one.
public protocol ChainTracer: Sendable {
  /// Called when a stage has finished a step.
  func record(_ event: StageEvent)

  /// Called before a request is sent over HTTP.
  ///
  /// - Parameter request: The request. The tracer may add header fields such as `traceparent`.
  /// - Returns: A tracer of the transfer; nil to get an event of the kind ``StageEvent/Kind/transport`` instead.
  func willSend(_ request: inout URLRequest) -> (any TransferTracer)?

  /// Called before an operation is sent over a ``ResultTransport``, for example a WebSocket.
  ///
  /// The tracer receives events of the kind ``StageEvent/Kind/transport`` in any case.
  ///
  /// - Returns: A tracer that is called when the operation ends; nil for none.
  func willSend(_ operationType: GraphQLOperationType, to endpoint: URL) -> (any TransferTracer)?
}

extension ChainTracer {
  public func willSend(_ request: inout URLRequest) -> (any TransferTracer)? { nil }
  public func willSend(_ operationType: GraphQLOperationType, to endpoint: URL) -> (any TransferTracer)? { nil }
}

/// Receives the events of one transfer.
///
/// If the consumer drops the response before its end, the tracer is released and ``ended(_:)`` is not called.
public protocol TransferTracer: Sendable {
  /// Called when the head of an HTTP response has arrived.
  func received(_ head: HTTPURLResponse)
  /// Called when the transfer has ended: the body or the last result arrived, or it failed with this error.
  func ended(_ error: (any Error)?)
}

/// One step of a stage, on the way down or up.
public struct StageEvent: Sendable {
  /// The kind of the stage.
  public enum Kind: String, Sendable {
    case graphQL = "graphql"
    case cache
    case http
    case transport
    case parsing
    case client
  }

  /// Down towards the server, or up towards the caller.
  public enum Direction: String, Sendable {
    case down
    case up
  }

  /// The kind of the stage.
  public var kind: Kind
  /// The stage's name: a manifest entry, or the type of a built-in.
  public var stage: String
  /// The hook of a plugin, or the phase of an interceptor.
  public var hook: String
  /// Down towards the server, or up towards the caller.
  public var direction: Direction
  /// The outcome: a verdict, or a few words.
  public var outcome: String
  /// Whether the stage failed.
  public var isFailure: Bool
  /// Whether the stage belongs to a plugin.
  public var isPlugin: Bool
  /// The duration of the step, without the time of inner stages.
  public var duration: Duration

  /// Creates an event.
  public init(
    kind: Kind, stage: String, hook: String, direction: Direction, outcome: String, isFailure: Bool = false,
    isPlugin: Bool = false, duration: Duration
  ) {
    self.kind = kind
    self.stage = stage
    self.hook = hook
    self.direction = direction
    self.outcome = outcome
    self.isFailure = isFailure
    self.isPlugin = isPlugin
    self.duration = duration
  }
}
