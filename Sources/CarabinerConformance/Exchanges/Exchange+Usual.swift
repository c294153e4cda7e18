internal import CCarabiner

extension Exchange {
  /// Exchanges that every stage gets in production: each kind of operation and each kind of end.
  static let usual: [Exchange] = [
    Exchange("a query"),
    Exchange("a mutation") {
      $0.operation.type = UInt32(CRB_OPERATION_MUTATION)
      $0.operation.name = "AddBook"
      $0.operation.document = "mutation AddBook($title: String!) { addBook(title: $title) { id } }"
      $0.operation.variables = #"{"title":"Solaris"}"#
      $0.results = [ResultSample(data: #"{"addBook":{"id":"2"}}"#)]
    },
    Exchange("an anonymous query without variables") {
      $0.operation.name = nil
      $0.operation.document = "{ books { id } }"
      $0.operation.variables = nil
    },
    Exchange("a subscription with three results") {
      $0.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
      $0.operation.name = "Ticks"
      $0.operation.document = "subscription Ticks { tick }"
      $0.operation.variables = "{}"
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
  ]
}
