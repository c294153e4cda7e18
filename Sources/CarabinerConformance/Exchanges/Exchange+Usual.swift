internal import CCarabiner

extension HeaderSample {
  /// The headers that a browser and the proxies in front of a gateway send.
  static let browser = [
    ("Accept", "multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json;q=0.9"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"), ("Accept-Language", "de-AT,de;q=0.9,en;q=0.8"),
    ("Content-Type", "application/json"),
    ("Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJleHAiOjE5MDAwMDAwMDB9.c2lnbmF0dXJl"),
    ("Cookie", "session=4711; theme=dark"), ("Origin", "https://app.example"), ("Referer", "https://app.example/books?page=2"),
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"), ("X-Forwarded-For", "203.0.113.9, 10.0.0.1"),
    ("X-Forwarded-Proto", "https"), ("Forwarded", "for=203.0.113.9;proto=https"), ("Via", "1.1 proxy.example"),
    ("X-Request-Id", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("tracestate", "one=1,two=2"), ("X-Client-Id", "app"), ("X-Tenant", "acme"), ("Idempotency-Key", "8e03978e"),
  ].map { HeaderSample(name: $0, value: $1, isSensitive: ["Authorization", "Cookie"].contains($0)) }

  /// The headers of servers and their proxies.
  static let server = [
    ("Date", "Wed, 21 Oct 2026 07:28:00 GMT"), ("ETag", "W/\"67ab43\""), ("Cache-Control", "private, max-age=60"), ("Age", "3"),
    ("Vary", "Accept-Encoding, Origin"), ("X-RateLimit-Remaining", "41"), ("X-RateLimit-Reset", "30"), ("RateLimit-Limit", "100"),
    ("RateLimit-Remaining", "41"),
    ("RateLimit-Reset", "30"),
    ("Server-Timing", "db;dur=53"),
    ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
  ].map { HeaderSample(name: $0, value: $1) }
}

extension OperationSample {
  /// Mutations whose documents begin in different ways, for example with a comment or a fragment.
  static let mutations: [OperationSample] = [
    "mutation AddBook($title: String!) { addBook(title: $title) { id } }",
    "\n  mutation AddBook($title: String!) { addBook(title: $title) { id } }",
    "# query\nmutation AddBook($title: String!) { addBook(title: $title) { id } }",
    "fragment Book on Book { id } mutation AddBook($title: String!) { addBook(title: $title) { ...Book } }",
    "query Books { books { id } } mutation AddBook($title: String!) { addBook(title: $title) { id } }",
    "mutation AddBook($title:String!){addBook(title:$title){id}}",
  ].map { document in
    var sample = OperationSample()
    sample.type = UInt32(CRB_OPERATION_MUTATION)
    sample.name = "AddBook"
    sample.document = document
    sample.variables = #"{"title":"Solaris"}"#
    return sample
  }

  static let subscription: OperationSample = {
    var sample = OperationSample()
    sample.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
    sample.name = "Ticks"
    sample.document = "subscription Ticks { tick }"
    sample.variables = "{}"
    return sample
  }()
}

extension Exchange {
  /// A mutation that has its result.
  static let mutation = usual[1]
  /// A query whose server answers with the status 503.
  static let unavailable = usual[6]
  /// A query whose connection breaks.
  static let disconnected = usual[7]

  /// Exchanges that every stage gets in production: each kind of operation and each kind of end.
  static let usual: [Exchange] = [
    Exchange("a query"),
    Exchange("a mutation") {
      $0.operation = OperationSample.mutations[0]
      $0.results = [ResultSample(data: #"{"addBook":{"id":"2"}}"#)]
    },
    Exchange("an anonymous query without variables") {
      $0.operation.name = nil
      $0.operation.document = "{ books { id } }"
      $0.operation.variables = nil
    },
    Exchange("a subscription with three results") {
      $0.operation = OperationSample.subscription
      $0.results = (0..<3).map { ResultSample(data: #"{"tick":\#($0)}"#, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
    },
    Exchange("a query with errors beside its data") {
      $0.results = [
        ResultSample(
          data: #"{"books":null}"#, errors: #"[{"message":"no books today","path":["books"]}]"#, extensions: #"{"cost":7}"#)
      ]
    },
    Exchange("a deferred query") {
      let first = UInt32(CRB_RESULT_HAS_NEXT)
      let part = UInt32(CRB_RESULT_INCREMENTAL)
      $0.results = [
        ResultSample(flags: first),
        ResultSample(data: #"{"books":[{"id":"1","title":"Solaris"}]}"#, flags: part, path: #"["books",0]"#, label: "later"),
      ]
    },
    Exchange("a query whose server answers 503") {
      $0.results = []
      $0.head.status = 503
      $0.chunks = []
      $0.ending = .error(ErrorSample())
    },
    Exchange("a query whose connection breaks") {
      $0.results = []
      $0.chunks = []
      $0.ending = .error(
        ErrorSample(
          code: 2, flags: UInt32(CRB_ERROR_TRANSPORT) | UInt32(CRB_ERROR_RETRYABLE), httpStatus: 0, domain: "carabiner.transport",
          message: "the connection was closed", origin: nil))
    },
    Exchange("a query that is cancelled") { $0.ending = .cancel },
    Exchange("a query that is cancelled before its first result") {
      $0.results = []
      $0.chunks = []
      $0.ending = .cancel
    },
    Exchange("a query without a result") {
      $0.results = []
      $0.chunks = []
    },
    Exchange("a query that another interceptor refuses") {
      $0.results = []
      $0.chunks = []
      $0.ending = .error(
        ErrorSample(
          code: 7, flags: 0, httpStatus: 0, domain: "org.example.quota", message: "the quota is used up", origin: "quota"))
    },
    Exchange("a query with the headers of a browser") {
      $0.operation.headers = HeaderSample.browser
      $0.request.headers = HeaderSample.browser
      $0.head.headers += HeaderSample.server
    },
  ]
}
