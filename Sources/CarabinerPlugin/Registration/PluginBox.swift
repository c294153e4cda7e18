internal import CCarabiner

/// The object that an instance pointer points to: the plugin as each of its protocols.
final class PluginBox: Sendable {
  let host: PluginHost
  let graphQL: GraphQLHooks?
  let http: HTTPHooks?
  let cache: CacheHooks?
  let parser: ParserHooks?
  let draining: (any Draining)?
  let handover: (any Handover)?
  let selfTesting: (any SelfTesting)?

  init(_ plugin: any Plugin, _ host: PluginHost) {
    self.host = host
    graphQL = (plugin as? any GraphQL.Stage).map(GraphQLHooks.init)
    http = (plugin as? any HTTP.Stage).map(HTTPHooks.init)
    cache = (plugin as? any Cache.Stage).map(CacheHooks.init)
    parser = (plugin as? any Parser.Stage).map(ParserHooks.init)
    draining = plugin as? any Draining
    handover = plugin as? any Handover
    selfTesting = plugin as? any SelfTesting
  }

  /// Runs the work of a suspended hook in a task, and resumes the hook with the verdict it returns.
  ///
  /// The task releases the work, and all objects it captured, before it resumes the hook. From then on the instance may be
  /// destroyed, which must not happen in this task.
  func suspend(_ core: CallCore, _ work: @escaping @Sendable () async throws -> Verdict) throws -> crb_verdict {
    let token = unsafe host.table.pointee.suspend(core.handle)
    guard token != 0 else { throw PluginFailure("the host cannot suspend this hook") }
    let work = TakenOnce(work)
    let own = host.work
    own.start(core.handle) {
      let verdict: crb_verdict
      do {
        verdict = try await Self.code(of: work)
      } catch {
        core.setError(error)
        verdict = crb_verdict(CRB_FAIL)
      }
      own.willResume(core.handle)
      _ = unsafe core.host.table.pointee.resume(token, verdict)
      own.ended()
    }
    // The call may have been cancelled before the task existed.
    if unsafe host.table.pointee.cancelled(core.handle) != 0 { cancel(core.handle) }
    return crb_verdict(CRB_PENDING)
  }

  /// Cancels the task of a call that was cancelled.
  func cancel(_ call: crb_call) { host.work.cancel(call) }

  private static func code(of work: TakenOnce<@Sendable () async throws -> Verdict>) async throws -> crb_verdict {
    guard let work = work.take() else { throw CancellationError() }
    guard let code = try await work().code else { throw PluginFailure("work of a suspended hook answered .later") }
    return code
  }
}

extension Verdict {
  /// The verdict's number in the C interface; nil for `.later`.
  var code: crb_verdict? {
    switch self {
    case .continue: crb_verdict(CRB_CONTINUE)
    case .respond: crb_verdict(CRB_RESPOND)
    case .drop: crb_verdict(CRB_DROP)
    case .finish: crb_verdict(CRB_FINISH)
    case .retry: crb_verdict(CRB_RETRY)
    case .recover: crb_verdict(CRB_RECOVER)
    case .later: nil
    }
  }
}

/// The hooks of a GraphQL stage.
final class GraphQLHooks: Sendable {
  let stage: any GraphQL.Stage
  let result: (any GraphQL.OnResult)?
  let error: (any GraphQL.OnError)?
  let end: (any GraphQL.OnEnd)?
  let cancel: (any GraphQL.OnCancel)?

  init(_ stage: any GraphQL.Stage) {
    self.stage = stage
    result = stage as? any GraphQL.OnResult
    error = stage as? any GraphQL.OnError
    end = stage as? any GraphQL.OnEnd
    cancel = stage as? any GraphQL.OnCancel
  }
}

/// The hooks of an HTTP stage.
final class HTTPHooks: Sendable {
  let stage: any HTTP.Stage
  let head: (any HTTP.OnHead)?
  let chunk: (any HTTP.OnChunk)?
  let error: (any HTTP.OnError)?
  let end: (any HTTP.OnEnd)?
  let cancel: (any HTTP.OnCancel)?

  init(_ stage: any HTTP.Stage) {
    self.stage = stage
    head = stage as? any HTTP.OnHead
    chunk = stage as? any HTTP.OnChunk
    error = stage as? any HTTP.OnError
    end = stage as? any HTTP.OnEnd
    cancel = stage as? any HTTP.OnCancel
  }
}

/// The hooks of a cache stage.
final class CacheHooks: Sendable {
  let stage: any Cache.Stage
  let write: (any Cache.OnWrite)?
  let cancel: (any Cache.OnCancel)?

  init(_ stage: any Cache.Stage) {
    self.stage = stage
    write = stage as? any Cache.OnWrite
    cancel = stage as? any Cache.OnCancel
  }
}

/// The hooks of a parser.
final class ParserHooks: Sendable {
  let stage: any Parser.Stage
  let chunk: (any Parser.OnChunk)?
  let error: (any Parser.OnError)?
  let end: (any Parser.OnEnd)?
  let cancel: (any Parser.OnCancel)?

  init(_ stage: any Parser.Stage) {
    self.stage = stage
    chunk = stage as? any Parser.OnChunk
    error = stage as? any Parser.OnError
    end = stage as? any Parser.OnEnd
    cancel = stage as? any Parser.OnCancel
  }
}
