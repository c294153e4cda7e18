/// What a hook answers. To fail, throw.
public enum Verdict: Sendable {
  /// Go on; staged edits apply.
  case `continue`
  /// What was staged is the answer: skip everything further in.
  case respond
  /// Swallow this; in a parser's `onHead`: not mine, ask the next.
  case drop
  /// Pass this on and end the stream.
  case finish
  /// Start again: the whole chain in GraphQL stages, the HTTP request in HTTP stages.
  case retry
  /// The staged result takes the error's place.
  case recover
  /// The hook is not done: the call is suspended, this runs in a task, and what it brings is the answer.
  ///
  /// The task is cancelled with the call.
  case later(@Sendable () async throws -> Verdict)
}

/// What a stage reads and what it changes.
public struct StageParts: Sendable {
  /// What the stage reads.
  public var needs: Parts
  /// What the stage may change.
  public var mutates: Parts

  /// Parts of a stage.
  public init(needs: Parts = [], mutates: Parts = []) {
    self.needs = needs
    self.mutates = mutates
  }
}

/// Parts of a message.
public struct Parts: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The header fields.
  public static let headers = Parts(rawValue: 1 << 0)
  /// The body of the HTTP request.
  public static let body = Parts(rawValue: 1 << 1)
  /// The URL of the HTTP request.
  public static let url = Parts(rawValue: 1 << 2)
  /// The method of the HTTP request.
  public static let method = Parts(rawValue: 1 << 3)
  /// The GraphQL document.
  public static let document = Parts(rawValue: 1 << 4)
  /// The variables, a JSON object.
  public static let variables = Parts(rawValue: 1 << 5)
  /// The extensions, a JSON object.
  public static let extensions = Parts(rawValue: 1 << 6)
  /// The operation's name.
  public static let operationName = Parts(rawValue: 1 << 7)
  /// A result: the whole response object.
  public static let json = Parts(rawValue: 1 << 8)
  /// A result's data.
  public static let data = Parts(rawValue: 1 << 9)
  /// A result's errors.
  public static let errors = Parts(rawValue: 1 << 10)
  /// The bytes of the response's body.
  public static let chunk = Parts(rawValue: 1 << 11)
}

/// A stage's own value for one call; it survives retries.
///
/// Hooks get it `inout`. Work of a suspended hook cannot: make the state a class if it has to.
public protocol CallState: Sendable {
  /// What a call begins with.
  init()
}

/// The state of a stage that keeps none; it costs nothing.
public struct NoState: CallState {
  public init() {}
}
