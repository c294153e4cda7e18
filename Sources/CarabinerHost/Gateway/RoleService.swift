internal import Carabiner
internal import CarabinerGateway
internal import NIOCore
internal import NIOHTTP1

/// Serves a listener that does not have the usual roles. It answers 404 at the paths of other roles.
struct RoleService: RequestHandler {
  let roles: ListenerRoles
  let operations: OperationService
  let metrics: ServerMetrics

  func handle(_ request: GatewayRequest, _ reply: GatewayReply) {
    switch request.path {
    case "/metrics" where roles.contains(.metrics): answerMetrics(request, reply)
    case "/healthz" where roles.contains(.health), "/readyz" where roles.contains(.health): operations.handle(request, reply)
    case "/healthz", "/readyz": refuse(reply, .notFound, "this address has no health checks")
    default:
      if roles.contains(.operations) { return operations.handle(request, reply) }
      refuse(reply, .notFound, "not found; this address has \(roles.paths.joined(separator: ", "))")
    }
  }

  func upgrade(_ request: GatewayRequest, _ reply: GatewayReply) -> SocketUpgrade? {
    if roles.contains(.operations) { return operations.upgrade(request, reply) }
    handle(request, reply)
    return nil
  }

  func takesUpload(_ head: RequestHead) -> Bool { roles.contains(.operations) && operations.takesUpload(head) }

  func refusalFields(_ headers: Carabiner.HTTPHeaders) -> NIOHTTP1.HTTPHeaders {
    roles.contains(.operations) ? operations.refusalFields(headers) : [:]
  }

  private func answerMetrics(_ request: GatewayRequest, _ reply: GatewayReply) {
    guard request.head.method == .GET || request.head.method == .HEAD else {
      return refuse(reply, .methodNotAllowed, "use GET")
    }
    // In a task, because files are read, which would block the event loop.
    reply.answered(
      by: Task { reply.answer(.ok, ["Content-Type": PrometheusText.contentType], ByteBuffer(string: metrics.text)) })
  }

  private func refuse(_ reply: GatewayReply, _ status: HTTPResponseStatus, _ message: String) {
    let (headers, body) = refusal(status, message)
    reply.answer(status, ReplyFields(headers), body)
  }
}
