internal import Carabiner
internal import CarabinerWire
internal import NIOHTTP1

extension OperationService {
  private static let mediaType = "multipart/form-data"

  package func takesUpload(_ head: RequestHead) -> Bool {
    guard head.method == .POST, let index = head.headers.firstIndex(of: "content-type") else { return false }
    let settings = settings.value
    return settings.limits.maximumFiles > 0 && MediaType(head.headers.value(at: index))?.essence == Self.mediaType
      && settings.path(head.path) != nil
  }

  /// Checks what can be checked before the form has arrived, and reads the operation of the form.
  func handleUpload(
    _ body: InboundBody, _ shape: ResponseFormat, _ exchange: OperationExchange, _ limits: GatewayLimits
  ) throws(RequestRefusal) {
    try InboundOperations.requirePlain(exchange.request.head.headers)
    try InboundOperations.requirePreflight(exchange.request.head.headers)
    let form = try InboundForm(body, contentType: exchange.request.header("content-type"), limits: limits)
    exchange.reply.prepared(
      by: Task(executorPreference: exchange.executor) { [self] in
        do {
          var inbound = try await InboundOperations(form, gate: gate, policy: exchange.policy)
          exchange.account?.note(inbound)
          try inbound.identify(exchange.request, settings.value)
          try admit(inbound, shape, exchange, limits)
        } catch let refusal as RequestRefusal {
          exchange.refuse(refusal)
        } catch {
          exchange.cancelled()
        }
      })
  }
}

extension InboundOperations {
  /// Reads the operation of a form.
  ///
  /// - Throws: A refusal, or `CancellationError`.
  fileprivate init(_ form: InboundForm, gate: OperationGate, policy: ClientPolicy?) async throws {
    let body = try await form.operations()
    guard body.first(where: { !" \t\r\n".utf8.contains($0) }) != UInt8(ascii: "[") else {
      throw RequestRefusal(
        400, "lists of requests cannot have files; send them one by one", code: "BATCHING_NOT_SUPPORTED")
    }
    var operation = try gate.operation(
      GraphQLParameters(body: body, contentType: ResponseFormat.Whole.json.rawValue), policy?.operations)
    guard operation.operationType != .subscription else {
      throw RequestRefusal(400, "a subscription cannot upload files; send it as JSON", code: "BAD_UPLOAD")
    }
    operation.form = try await form.uploadedForm(operation.variables)
    self.init(operation)
  }
}
