internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// An HTTP request and, once it has come, the head of its response.
final class HTTPMessage {
  // One user at a time, the owner of the call, so nothing is gained by having the runtime check each access.
  @safe @exclusivity(unchecked) var request: URLRequest
  @safe @exclusivity(unchecked) var response: HTTPURLResponse?

  init(request: URLRequest) { self.request = request }

  /// Lets what `on_request` staged take effect. The setters have checked it.
  func apply(_ answer: StagedEffects) {
    guard answer.isTouched else { return }
    request.headers.apply(answer)
    for (part, bytes) in answer.fields {
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
}
