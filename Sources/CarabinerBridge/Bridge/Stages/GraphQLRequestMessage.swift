internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import CarabinerWire
internal import FoundationEssentials

/// A GraphQL request as hooks see it, with its results on the way back.
struct GraphQLRequestMessage<Request: GraphQLRequest>: HookMessage {
  private(set) var request: Request

  init(_ request: Request) { self.request = request }

  func headers(of source: Contract.HeaderSource) -> HTTPHeaders? { request.additionalHeaders }

  var responseURL: URL? { nil }

  func content(of part: Parts) -> MessageContent {
    switch part {
    case .document: .text(document)
    case .variables: .bytes(request.wireOverrides.variables?.bytes ?? JSONValue.object(request.operation.variables).serialized())
    case .extensions: .bytes(JSONValue.object(request.wireOverrides.extensions).serialized())
    case .operationName: request.operation.operationName.map { MessageContent.text($0) } ?? .absent
    default: .unknown
    }
  }

  private var document: String {
    switch request.wireOverrides.document {
    case .original, .omitted: request.operation.document
    case .replaced(let text): text
    }
  }
}

extension GraphQLRequestMessage: ResponseMessage {
  typealias Element = ParsedResult<Request.Operation>

  static var reachesCaller: Bool { true }

  var retry: any Error { RequestChain<Request>.Retry(request: request) }

  mutating func takeHeaderEdits(of call: GroupCall) { request.additionalHeaders.takeEdits(of: call) }

  mutating func apply(_ effects: StagedEffects) {
    guard effects.isTouched else { return }
    if effects.headerEditCount > 0 { request.additionalHeaders.apply(effects) }
    for (part, bytes) in effects.fields {
      switch Parts(rawValue: part) {
      case .document: request.wireOverrides.document = .replaced(String(decoding: bytes ?? Data(), as: UTF8.self))
      case .variables: request.wireOverrides.variables = bytes.flatMap { try? JSONText(checking: [UInt8]($0)) }
      case .extensions:
        request.wireOverrides.extensions = bytes.flatMap { try? JSONValue(parsing: [UInt8]($0)).object } ?? [:]
      default: break
      }
    }
  }

  func event(for result: Element, _ sequence: UInt64, in call: GroupCall) throws(PluginError) -> ElementEvent {
    let response = result.result
    // Reading the body copies it.
    let shown = call.stages.group.shown
    var event = unsafe shown.isEmpty ? .withoutParts : call.memory.view(of: response.body, shown)
    unsafe event.seq = sequence
    unsafe event.http_status = Int32(response.statusCode ?? 0)
    if response.source == .cache { unsafe event.flags |= UInt32(CRB_RESULT_CACHE) }
    if response.source == .interceptor { unsafe event.flags |= UInt32(CRB_RESULT_SYNTHETIC) }
    if let delivery = response.delivery { unsafe call.memory.show(delivery, in: &event) }
    return unsafe ElementEvent(memory: try call.keep(event))
  }

  func ascend(_ event: ElementEvent, in call: GroupCall, from last: Int) throws(PluginError) -> HookInvocation? {
    unsafe try call.ascend(event.memory.assumingMemoryBound(to: crb_result.self), from: last)
  }

  func element(of staged: StagedEffects.Element, replacing original: Element?) throws -> Element {
    let source: GraphQLResponse<Request.Operation>.Source =
      staged.flags & UInt32(CRB_RESULT_CACHE) != 0 ? .cache : original?.result.source ?? .interceptor
    let body = try ResponseBody(staged.bytes)
    var response = GraphQLResponse<Request.Operation>(
      body: body, source: source, httpResponse: original?.result.httpResponse)
    response.delivery = original?.result.delivery ?? ResultDelivery(flags: staged.flags)
    return Element(
      result: response,
      cacheRecords: original?.cacheRecords == nil ? nil : ApolloStore.records(of: body, to: request))
  }
}
