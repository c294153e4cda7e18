/// A request as the demo site sees it.
struct DemoRequest: Sendable {
  let method: String
  /// The path with its query.
  let target: String
  /// Names in lower case.
  let headers: [String: String]
  let body: [UInt8]

  /// The path without its query.
  var path: Substring { target.prefix { $0 != "?" } }
}

/// What the demo site answers.
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
