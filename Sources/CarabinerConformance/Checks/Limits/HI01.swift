internal import CarabinerHost
internal import Synchronization

extension Check {
  static let hi01 = Check(
    "HI01", level: 5, "withstands bodies and headers of every size",
    page: Page(
      rule: "Bodies of 0 bytes, 1 byte and 64 MiB, 10,000 headers and a header of 1 MiB neither crash nor hang the plugin.",
      reason: "What comes from a server is chosen by whoever runs that server, or stands in front of it.",
      example: "char value[256]; memcpy(value, header->value.ptr, header->value.len);",
      remedy:
        "Compare lengths before you copy, refuse what is too much with set_error() and CRB_FAIL, and say which limit it was."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let large = [UInt8](repeating: UInt8(ascii: " "), count: trial.options.times(64 << 20, atLeast: 4 << 20))
      let text = String(repeating: "x", count: 1 << 20)
      let many = (0..<10_000).map { HeaderSample(name: "X-Many-\($0)", value: "\($0)") }
      try trial.exercise([
        Exchange("a body without bytes") {
          $0.chunks = [[]]
          $0.request.body = []
          $0.results = [ResultSample(data: "null")]
        },
        Exchange("a body of one byte") {
          $0.chunks = [[UInt8(ascii: "{")]]
          $0.request.body = [UInt8(ascii: "{")]
        },
        Exchange("a very large body") {
          $0.chunks = [large]
          $0.request.body = large
        },
        Exchange("a result of a mebibyte") { $0.results = [ResultSample(data: "\"\(text)\"")] },
        Exchange("ten thousand headers") {
          $0.operation.headers = many
          $0.request.headers = many
          $0.head.headers = many
        },
        Exchange("a header of a mebibyte") {
          let field = HeaderSample(name: "X-Long", value: text)
          $0.operation.headers.append(field)
          $0.request.headers.append(field)
          $0.head.headers.append(field)
        },
        Exchange("a document of a mebibyte") { $0.operation.document = "{ a(b: \"\(text)\") }" },
      ])
    })
}
