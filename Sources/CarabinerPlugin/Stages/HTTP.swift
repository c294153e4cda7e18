internal import CCarabiner

/// HTTP stages receive requests, and the heads and chunks of responses.
public enum HTTP {
  /// An HTTP stage, with its first hook.
  public protocol Stage: Plugin {
    /// The stage's state between the hooks of a call.
    associatedtype HTTPState: CallState = NoState
    /// The parts that the stage reads and changes.
    static var http: StageParts { get }
    /// Called before the request is sent.
    func onRequest(_ call: Call, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that process heads.
  public protocol OnHead: Stage {
    /// Called with the status and headers of a response.
    func onHead(_ call: Call, _ head: borrowing Head, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that process bodies.
  public protocol OnChunk: Stage {
    /// Called with each chunk of the body. `.continue` passes the chunk on, or the staged bytes in its place.
    func onChunk(_ call: Call, _ chunk: borrowing Chunk, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that process errors of stages closer to the network.
  public protocol OnError: Stage {
    /// Called after an error. An error that this throws replaces it.
    func onError(_ call: Call, _ error: borrowing ErrorEvent, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that must know when the response ends.
  public protocol OnEnd: Stage {
    /// Called when no more chunks follow.
    func onEnd(_ call: Call, _ state: inout HTTPState) throws -> Verdict
  }

  /// For stages that must know when a call is cancelled.
  public protocol OnCancel: Stage {
    /// Wakes up waiting work and returns. Another hook of the same call may be running.
    func onCancel(_ call: Call)
  }

  /// A call in a hook of an HTTP stage.
  public struct Call: StageCall {
    public let core: CallCore

    /// The request's URL.
    public var url: String? { get throws { try text(of: .url) } }
    /// The request's method.
    public var method: String? { get throws { try text(of: .method) } }
    /// The request's body.
    public var body: [UInt8]? { get throws { try part(.body) } }

    /// Replaces the URL.
    public func setURL(_ url: String) throws { try set(.url, Array(url.utf8), "the URL") }
    /// Replaces the method.
    public func setMethod(_ method: String) throws { try set(.method, Array(method.utf8), "the method") }
    /// Replaces the body.
    public func setBody(_ bytes: [UInt8]) throws { try set(.body, bytes, "the body") }

    /// Sets or removes a header: in `onRequest` of the request, in `onHead` of the response.
    public func setHeader(_ name: String, to value: String?) throws { try changeHeader(name, value, 0) }
    /// Adds a header to those already there.
    public func addHeader(_ name: String, _ value: String) throws { try changeHeader(name, value, UInt32(CRB_HEADER_APPEND)) }

    /// Stages a response's head, in `onHead` or before `.respond` in `onRequest`.
    public func setHead(status: Int, headers: [(name: String, value: String)] = []) throws {
      try stageHead(status, headers)
    }
    /// Stages bytes of the response's body. With `.continue` they replace the chunk; in `onEnd` they are appended.
    public func emit(_ bytes: [UInt8]) throws { try emit(try core.host.buffer(bytes)) }
    /// Stages bytes of the response's body without a copy.
    public func emit(_ bytes: consuming Buffer) throws { try stage(CRB_EMIT_CHUNK, bytes, 0) }

    /// In `onRequest`: responds without sending the request. `return try call.respond(status: 200, headers: [...], body:
    /// [...])`
    public func respond(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8]) throws -> Verdict {
      try setHead(status: status, headers: headers)
      try emit(body)
      return .respond
    }
    /// In `onChunk`: replaces the chunk. `return try call.replace(bytes)`
    public func replace(_ bytes: [UInt8]) throws -> Verdict {
      try emit(bytes)
      return .continue
    }
    /// Sends the HTTP request again after a delay. `return try call.retry(after: .seconds(1))`
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
