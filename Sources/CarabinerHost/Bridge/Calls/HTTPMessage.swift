internal import Carabiner
internal import FoundationEssentials

/// An HTTP request and, once it has come, the head of its response.
final class HTTPMessage {
  var request: URLRequest
  var response: HTTPURLResponse?

  init(request: URLRequest) { self.request = request }

  /// Lets what `on_request` staged take effect. The setters have checked it.
  func apply(_ answer: StagedAnswer) {
    guard answer.isTouched else { return }
    if let headers = answer.headers { request.headers = headers }
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
