internal import CCarabiner

/// GraphQL stages receive requests and results.
public enum GraphQL {
  /// A GraphQL stage, with its first hook.
  public protocol Stage: Plugin {
    /// The stage's state between the hooks of a call.
    associatedtype GraphQLState: CallState = NoState
    /// The parts that the stage reads and changes.
    static var graphQL: StageParts { get }
    /// Called before the request is sent.
    func onRequest(_ call: Call, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that process results.
  public protocol OnResult: Stage {
    /// Called with each result. `.continue` passes the result on, or the staged response in its place.
    func onResult(_ call: Call, _ result: borrowing ResultEvent, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that process errors of stages closer to the network.
  public protocol OnError: Stage {
    /// Called after an error. An error that this throws replaces it.
    func onError(_ call: Call, _ error: borrowing ErrorEvent, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that must know when the results end.
  public protocol OnEnd: Stage {
    /// Called when no more results follow.
    func onEnd(_ call: Call, _ state: inout GraphQLState) throws -> Verdict
  }

  /// For stages that must know when a call is cancelled.
  public protocol OnCancel: Stage {
    /// Wakes up waiting work and returns. Another hook of the same call may be running.
    func onCancel(_ call: Call)
  }

  /// A call in a hook of a GraphQL stage.
  public struct Call: StageCall {
    public let core: CallCore
    /// The flags of a result that replaces the current one: more may follow it, and it may be a part of a response.
    let resultFlags: UInt32

    init(core: CallCore, resultFlags: UInt32 = 0) {
      self.core = core
      self.resultFlags = resultFlags
    }

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

    /// Stages a whole response. With `.continue` it replaces the result, and keeps whether more results follow; in `onEnd` it is appended.
    public func emit(_ json: String) throws { try emit(try core.host.buffer(json.utf8)) }
    /// Stages a whole response without a copy.
    public func emit(_ json: consuming Buffer) throws { try stage(CRB_EMIT_RESULT, json, Int(resultFlags)) }

    /// In `onRequest`: responds without sending the request. `return try call.respond(json)`
    public func respond(_ json: String) throws -> Verdict {
      try stage(CRB_EMIT_RESULT, try core.host.buffer(json.utf8), CRB_RESULT_SYNTHETIC)
      return .respond
    }
    /// In `onResult`: replaces the result. `return try call.replace(json)`
    public func replace(_ json: String) throws -> Verdict {
      try emit(json)
      return .continue
    }
    /// In `onError`: replaces the error with a result. `return try call.recover(json)`
    public func recover(_ json: String) throws -> Verdict {
      try stage(CRB_EMIT_RESULT, try core.host.buffer(json.utf8), CRB_RESULT_SYNTHETIC)
      return .recover
    }
    /// Restarts the call at the first GraphQL stage after a delay. `return try call.retry(after: .seconds(1))`
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
    try unsafe GraphQLState.kept(at: word) {
      try onResult(GraphQL.Call(core: core, resultFlags: result.keptFlags), result, &$0)
    }
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
