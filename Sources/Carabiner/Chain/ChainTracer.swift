/// Is told what each stage of a request does; the command's `--trace` is one.
public protocol ChainTracer: Sendable {
  /// A stage did one thing.
  func record(_ event: StageEvent)
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
  /// How long it took; waiting for stages further in does not count.
  public var duration: Duration

  /// An event of these parts.
  public init(
    kind: Kind, stage: String, hook: String, direction: Direction, outcome: String, duration: Duration
  ) {
    self.kind = kind
    self.stage = stage
    self.hook = hook
    self.direction = direction
    self.outcome = outcome
    self.duration = duration
  }
}
