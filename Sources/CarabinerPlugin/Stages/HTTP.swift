internal import CCarabiner

/// HTTP stages see requests, and the heads and chunks of responses.
public enum HTTP {
  /// An HTTP stage, with its first hook.
  public protocol Stage: Plugin {
    /// What the stage keeps of a call between its hooks.
    associatedtype HTTPState: CallState = NoState
    /// What the stage reads and changes.
    static var http: StageParts { get }
    /// Before the request is sent.
    func onRequest(_ call: Call, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that look at heads.
  public protocol OnHead: Stage {
    /// Status and headers arrived.
    func onHead(_ call: Call, _ head: borrowing Head, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that look at bodies.
  public protocol OnChunk: Stage {
    /// For each piece of the body. With nothing staged, `.continue` passes it on.
    func onChunk(_ call: Call, _ chunk: borrowing Chunk, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that want to know what failed further in.
  public protocol OnError: Stage {
    /// Something further in failed; what this throws takes the error's place.
    func onError(_ call: Call, _ error: borrowing ErrorEvent, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that want to know the end.
  public protocol OnEnd: Stage {
    /// Nothing more will come from further in.
    func onEnd(_ call: Call, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that want to know of a call's cancellation.
  public protocol OnCancel: Stage {
    /// Wake whoever waits and return. Another hook of the same call may be under way.
    func onCancel(_ call: Call)
  }

  /// A call in a hook of an HTTP stage.
  public struct Call: StageCall {
    public let core: CallCore

    /// Where the request goes.
    public var url: String? { get throws { try text(of: .url) } }
    /// The request's method.
    public var method: String? { get throws { try text(of: .method) } }
    /// The request's body.
    public var body: [UInt8]? { get throws { try part(.body) } }

    /// Sends the request elsewhere.
    public func setURL(_ url: String) throws { try set(.url, Array(url.utf8), "the URL") }
    /// Replaces the method.
    public func setMethod(_ method: String) throws { try set(.method, Array(method.utf8), "the method") }
    /// Replaces the body.
    public func setBody(_ bytes: [UInt8]) throws { try set(.body, bytes, "the body") }

    /// Sets a header, or removes it: in `onRequest` of the request, in `onHead` of the response.
    public func setHeader(_ name: String, to value: String?) throws { try changeHeader(name, value, 0) }
    /// Adds a header to those already there.
    public func addHeader(_ name: String, _ value: String) throws { try changeHeader(name, value, UInt32(CRB_HEADER_APPEND)) }

    /// Stages a response's head: in `onRequest` before `.respond`, and in `onHead`.
    public func setHead(status: Int, headers: [(name: String, value: String)] = []) throws {
      try stageHead(status, headers)
    }
    /// Stages bytes of the response's body: with `.continue` they take the chunk's place, in `onEnd` they follow.
    public func emit(_ bytes: [UInt8]) throws { try emit(try core.host.buffer(bytes)) }
    /// Stages bytes of the response's body without a copy.
    public func emit(_ bytes: consuming Buffer) throws { try stage(CRB_EMIT_CHUNK, bytes, 0) }

    /// In `onRequest`: this is the response. `return try call.respond(status: 200, headers: [...], body: [...])`
    public func respond(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8]) throws -> Verdict {
      try setHead(status: status, headers: headers)
      try emit(body)
      return .respond
    }
    /// In `onChunk`: this instead. `return try call.replace(bytes)`
    public func replace(_ bytes: [UInt8]) throws -> Verdict {
      try emit(bytes)
      return .continue
    }
    /// The HTTP request again, after a while. `return try call.retry(after: .seconds(1))`
    public func retry(after delay: Duration) throws -> Verdict { try again(CRB_RETRY_STAGE, delay) }
  }
}

extension HTTP.Stage {
  public static var http: StageParts { StageParts() }

  func runRequest(_ core: CallCore, _ word: StateWord?) throws -> Verdict {
    try unsafe HTTPState.made(at: word) { try onRequest(HTTP.Call(core: core), &$0) }
  }
  func releaseHTTPState(_ word: UnsafeMutableRawPointer) { unsafe HTTPState.release(word) }
}

extension HTTP.OnHead {
  func run(_ core: CallCore, _ head: borrowing Head, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe HTTPState.kept(at: word) { try onHead(HTTP.Call(core: core), head, &$0) }
  }
}

extension HTTP.OnChunk {
  func run(_ core: CallCore, _ chunk: borrowing Chunk, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe HTTPState.kept(at: word) { try onChunk(HTTP.Call(core: core), chunk, &$0) }
  }
}

extension HTTP.OnError {
  func run(_ core: CallCore, _ error: borrowing ErrorEvent, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe HTTPState.kept(at: word) { try onError(HTTP.Call(core: core), error, &$0) }
  }
}

extension HTTP.OnEnd {
  func run(_ core: CallCore, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe HTTPState.kept(at: word) { try onEnd(HTTP.Call(core: core), &$0) }
  }
}
