internal import CCarabiner

/// GraphQL stages see requests and results.
public enum GraphQL {
  /// A GraphQL stage, with its first hook.
  public protocol Stage: Plugin {
    /// What the stage keeps of a call between its hooks.
    associatedtype GraphQLState: CallState = NoState
    /// What the stage reads and changes.
    static var graphQL: StageParts { get }
    /// Before anything is sent.
    func onRequest(_ call: Call, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that look at results.
  public protocol OnResult: Stage {
    /// For each result. With nothing staged, `.continue` passes it on as it is.
    func onResult(_ call: Call, _ result: borrowing ResultEvent, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that want to know what failed further in.
  public protocol OnError: Stage {
    /// Something further in failed; what this throws takes the error's place.
    func onError(_ call: Call, _ error: borrowing ErrorEvent, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that want to know the end.
  public protocol OnEnd: Stage {
    /// Nothing more will come from further in.
    func onEnd(_ call: Call, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that want to know of a call's cancellation.
  public protocol OnCancel: Stage {
    /// Wake whoever waits and return. Another hook of the same call may be under way.
    func onCancel(_ call: Call)
  }

  /// A call in a hook of a GraphQL stage.
  public struct Call: StageCall {
    public let core: CallCore

    /// The operation's name; nil for an anonymous one.
    public var operationName: String? { get throws { try text(of: .operationName) } }
    /// The GraphQL document.
    public var document: String? { get throws { try text(of: .document) } }
    /// The variables, a JSON object.
    public var variables: String? { get throws { try text(of: .variables) } }
    /// The extensions, a JSON object.
    public var extensions: String? { get throws { try text(of: .extensions) } }

    /// Replaces the document.
    public func setDocument(_ text: String) throws { try set(.document, Array(text.utf8), "the document") }
    /// Replaces the variables.
    public func setVariables(_ json: String) throws { try set(.variables, Array(json.utf8), "the variables") }
    /// Replaces the extensions.
    public func setExtensions(_ json: String) throws { try set(.extensions, Array(json.utf8), "the extensions") }

    /// Sets a header of the request, or removes it.
    public func setHeader(_ name: String, to value: String?) throws { try changeHeader(name, value, 0) }
    /// Adds a header to those already there.
    public func addHeader(_ name: String, _ value: String) throws { try changeHeader(name, value, UInt32(CRB_HEADER_APPEND)) }

    /// Stages a whole response: with `.continue` it takes the result's place, in `onEnd` it follows.
    public func emit(_ json: String) throws { try emit(try core.host.buffer(json.utf8)) }
    /// Stages a whole response without a copy.
    public func emit(_ json: consuming Buffer) throws { try stage(CRB_EMIT_RESULT, json, 0) }

    /// In `onRequest`: this is the answer. `return try call.respond(json)`
    public func respond(_ json: String) throws -> Verdict {
      try stage(CRB_EMIT_RESULT, try core.host.buffer(json.utf8), CRB_RESULT_SYNTHETIC)
      return .respond
    }
    /// In `onResult`: this instead. `return try call.replace(json)`
    public func replace(_ json: String) throws -> Verdict {
      try emit(json)
      return .continue
    }
    /// In `onError`: a result in the error's place. `return try call.recover(json)`
    public func recover(_ json: String) throws -> Verdict {
      try stage(CRB_EMIT_RESULT, try core.host.buffer(json.utf8), CRB_RESULT_SYNTHETIC)
      return .recover
    }
    /// From the first GraphQL stage again, after a while. `return try call.retry(after: .seconds(1))`
    public func retry(after delay: Duration) throws -> Verdict { try again(CRB_RETRY_CHAIN, delay) }
  }
}

extension GraphQL.Stage {
  public static var graphQL: StageParts { StageParts() }

  func runRequest(_ core: CallCore, _ word: StateWord?) throws -> Verdict {
    try unsafe GraphQLState.made(at: word) { try onRequest(GraphQL.Call(core: core), &$0) }
  }
  func releaseGraphQLState(_ word: UnsafeMutableRawPointer) { unsafe GraphQLState.release(word) }
}

extension GraphQL.OnResult {
  func run(_ core: CallCore, _ result: borrowing ResultEvent, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe GraphQLState.kept(at: word) { try onResult(GraphQL.Call(core: core), result, &$0) }
  }
}

extension GraphQL.OnError {
  func run(_ core: CallCore, _ error: borrowing ErrorEvent, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe GraphQLState.kept(at: word) { try onError(GraphQL.Call(core: core), error, &$0) }
  }
}

extension GraphQL.OnEnd {
  func run(_ core: CallCore, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe GraphQLState.kept(at: word) { try onEnd(GraphQL.Call(core: core), &$0) }
  }
}
