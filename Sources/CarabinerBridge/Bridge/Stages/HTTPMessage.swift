internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// An HTTP request as hooks see it and, once it has arrived, the head of its response. The pieces of the body follow.
struct HTTPMessage: HookMessage {
  private(set) var request: URLRequest
  var response: HTTPURLResponse?

  func headers(of source: Contract.HeaderSource) -> HTTPHeaders? {
    switch source {
    case .request: request.headers
    case .response: response?.headers
    }
  }

  var responseURL: URL? { response?.url ?? request.url }

  func content(of part: Parts) -> MessageContent {
    switch part {
    case .url: .text(request.url.absoluteString)
    case .method: .text(request.httpMethod)
    case .body: request.body.map { $0.data.map { MessageContent.data($0) } ?? .streamed } ?? .absent
    default: .unknown
    }
  }
}

extension HTTPMessage: ResponseMessage {
  static var reachesCaller: Bool { false }

  var retry: any Error { HTTPRetry() }

  mutating func takeHeaderEdits(of call: GroupCall) { request.headers.takeEdits(of: call) }

  mutating func apply(_ effects: StagedEffects) {
    guard effects.isTouched else { return }
    request.headers.apply(effects)
    for (part, bytes) in effects.fields {
      switch Parts(rawValue: part) {
      case .body: request.httpBody = bytes
      case .url:
        if let bytes, let url = URL(string: String(decoding: bytes, as: UTF8.self)) { request.url = url }
      case .method:
        if let bytes { request.httpMethod = String(decoding: bytes, as: UTF8.self) }
      default: break
      }
    }
  }

  func event(for chunk: Data, _ sequence: UInt64, in call: GroupCall) throws(PluginError) -> ElementEvent {
    unsafe ElementEvent(memory: try call.keep(call.view(ofChunk: chunk, sequence: sequence)))
  }

  func ascend(_ event: ElementEvent, in call: GroupCall, from last: Int) throws(PluginError) -> HookInvocation? {
    unsafe call.ascend(event.memory.assumingMemoryBound(to: crb_chunk.self), from: last)
  }

  func element(of staged: StagedEffects.Element, replacing original: Data?) -> Data { staged.bytes }
}
