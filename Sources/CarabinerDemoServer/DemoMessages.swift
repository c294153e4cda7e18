/// A request to the demo site.
struct DemoRequest: Sendable {
  let method: String
  /// The path with its query string.
  let target: String
  /// The headers, with names in lower case.
  let headers: [String: String]
  let body: [UInt8]

  /// The path without its query string.
  var path: Substring { target.prefix { $0 != "?" } }
}

/// A response of the demo site.
struct DemoReply: Sendable {
  enum Body: Sendable {
    case whole([UInt8])
    case streamed(MultipartBody)
  }

  let status: Int
  var headers: [String: String]
  let body: Body

  init(_ status: Int, _ contentType: String, _ body: Body, headers: [String: String] = [:]) {
    self.status = status
    self.headers = headers
    self.headers["Content-Type"] = contentType
    self.body = body
  }
}
