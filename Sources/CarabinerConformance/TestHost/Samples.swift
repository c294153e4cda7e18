internal import CCarabiner

/// A header field of a sample message.
struct HeaderSample: Sendable, Hashable {
  var name: String
  var value: String
  var isSensitive = false
}

/// A GraphQL operation to send through a stage.
struct OperationSample: Sendable {
  var type = UInt32(CRB_OPERATION_QUERY)
  var name: String? = "Books"
  var document = "query Books($first: Int) { books(first: $first) { __typename id title } }"
  var variables: String? = #"{"first":3}"#
  var extensions: String?
  var headers = [
    HeaderSample(name: "X-Request", value: "one"), HeaderSample(name: "Accept-Language", value: "en"),
    HeaderSample(name: "accept-language", value: "de"),
  ]
}

/// An HTTP request to send through a stage.
struct HTTPRequestSample: Sendable {
  var method = "POST"
  var url = "https://books.example/graphql?region=eu"
  var headers = [
    HeaderSample(name: "Content-Type", value: "application/json"), HeaderSample(name: "X-Double", value: "1"),
    HeaderSample(name: "x-double", value: "2"), HeaderSample(name: "Cookie", value: "session=4711", isSensitive: true),
  ]
  var body: [UInt8]? = Array(#"{"query":"{ books { id } }"}"#.utf8)
  /// Whether the body is read from disk while it is sent, so that no stage can read it.
  var isUpload = false
}

/// The head of a response.
struct HeadSample: Sendable, Hashable {
  var status: UInt32 = 200
  var version: UInt32 = 11
  var headers = [
    HeaderSample(name: "Content-Type", value: "application/json"),
    HeaderSample(name: "Set-Cookie", value: "a=1", isSensitive: true),
    HeaderSample(name: "set-cookie", value: "b=2", isSensitive: true),
  ]
}

/// One result of an operation, its parts as JSON text.
struct ResultSample: Sendable, Hashable {
  var data: String? = #"{"books":[{"__typename":"Book","id":"1","title":"Solaris"}]}"#
  var errors: String?
  var extensions: String?
  var flags: UInt32 = 0
  var path: String?
  var label: String?
  var httpStatus: Int32 = 200
  /// Whether the members are in the opposite order, with white space between them.
  var isReversed = false

  /// The whole response object.
  var json: String {
    let members = [("data", data), ("errors", errors), ("extensions", extensions)].compactMap { name, value in
      value.map { "\"\(name)\"\(isReversed ? " : " : ":")\($0)" }
    }
    return isReversed ? "{ " + members.reversed().joined(separator: " ,\n") + " }\n" : "{" + members.joined(separator: ",") + "}"
  }
}

/// An error on its way outward.
struct ErrorSample: Sendable, Hashable {
  var code: Int32 = 503
  var flags = UInt32(CRB_ERROR_HTTP_STATUS) | UInt32(CRB_ERROR_RETRYABLE)
  var httpStatus: Int32 = 503
  var retryAfter: UInt64 = 0
  var domain: String? = "carabiner.http"
  var message: String? = "the server answered with status 503"
  var detail: String?
  var origin: String? = "response-code"
  /// How many bytes `size` exceeds the size in the header.
  var extraSize: UInt32 = 0
}

/// The input of a stage in one call, in order, and the end of the call.
struct Exchange: Sendable {
  /// The end after the results or chunks.
  enum Ending: Sendable {
    case end
    case error(ErrorSample)
    case cancel
    /// Another stage retries the call before this stage learns how the attempt ended.
    case hidden
  }

  /// Its name in messages.
  var name: String
  var operation = OperationSample()
  var request = HTTPRequestSample()
  var head = HeadSample()
  var chunks: [[UInt8]] = [Array(#"{"data":{"books":"#.utf8), Array(#"[]}}"#.utf8)]
  var results = [ResultSample()]
  var ending = Ending.end
  /// Whether the plugin may pass on what a host refuses, because the document or the body is malformed itself.
  var isMalformed = false

  init(_ name: String, _ change: (inout Exchange) -> Void = { _ in }) {
    self.name = name
    change(&self)
  }

  /// The call without results, which another stage retries.
  var hidden: Exchange {
    var attempt = self
    attempt.results = []
    attempt.chunks = []
    attempt.ending = .hidden
    return attempt
  }

  /// Adds fields to the operation, the request and the response.
  mutating func add(_ fields: [HeaderSample]) {
    operation.headers += fields
    request.headers += fields
    head.headers += fields
  }
}
