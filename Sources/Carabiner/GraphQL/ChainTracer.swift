public import FoundationEssentials

/// Is told what each stage of a request does; the command's `--trace` is one.
public protocol ChainTracer: Sendable {
  /// A stage did one thing.
  func record(_ event: StageEvent)

  /// A request is about to be sent over HTTP.
  ///
  /// - Parameter request: What will be sent; fields that tell the server of the trace may be added to its head.
  /// - Returns: Who is told how the transfer goes; nil to have it recorded as an event of the kind ``StageEvent/Kind/transport``.
  func willSend(_ request: inout URLRequest) -> (any TransferTracer)?

  /// An operation is about to be sent by a transport that brings results, as over a WebSocket.
  ///
  /// Its events of the kind ``StageEvent/Kind/transport`` are recorded in any case.
  ///
  /// - Returns: Who is told when it is over; nil if nobody wants to know.
  func willSend(_ operationType: GraphQLOperationType, to endpoint: URL) -> (any TransferTracer)?
}

extension ChainTracer {
  public func willSend(_ request: inout URLRequest) -> (any TransferTracer)? { nil }
  public func willSend(_ operationType: GraphQLOperationType, to endpoint: URL) -> (any TransferTracer)? { nil }
}

/// Is told how one transfer goes.
///
/// It is let go together with the response's body: a consumer that wants no more of it does not say so.
public protocol TransferTracer: Sendable {
  /// The head of a response over HTTP arrived.
  func received(_ head: HTTPURLResponse)
  /// The transfer is over: its body, or its last result, has come, or this went wrong.
  func ended(_ error: (any Error)?)
}

/// One thing a stage did, on the way down or up.
public struct StageEvent: Sendable {
  /// What kind of stage it was.
  public enum Kind: String, Sendable {
    case graphQL = "graphql"
    case cache
    case http
    case transport
    case parsing
    case client
  }

  /// Which way the request was going.
  public enum Direction: String, Sendable {
    case down
    case up
  }

  /// What kind of stage it was.
  public var kind: Kind
  /// The stage's name: a manifest entry, or the type of a built-in.
  public var stage: String
  /// What was called, as the stage's author knows it: a hook, or the phase of an interceptor.
  public var hook: String
  /// Which way the request was going.
  public var direction: Direction
  /// How it ended: a verdict, or a few words.
  public var outcome: String
  /// Whether the stage failed.
  public var isFailure: Bool
  /// Whether the stage is a plugin's.
  public var isPlugin: Bool
  /// How long it took; waiting for stages further in does not count.
  public var duration: Duration

  /// An event of these parts.
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
