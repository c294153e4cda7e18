internal import CarabinerHost

extension Check {
  static let se06 = Check(
    "SE06", level: 3, "takes header names in any case, and keeps duplicates",
    page: Page(
      rule: #"""
        Header names are compared without regard to case; fields a stage does not change stay as they are, duplicates too, in their order; what it sets is a legal header.
        """#,
      reason: #"""
        HTTP/2 sends names in lower case, older servers as they like. Set-Cookie comes several times, and each of them counts.
        """#,
      example: #"""
        if (memcmp(headers[i].name.ptr, "Content-Type", 12) == 0) …
        """#,
      remedy: #"""
        Ask with header_get(), which compares as HTTP does; set with header_set() and CRB_HEADER_APPEND where fields may stand more than once.
        Check values for CR, LF and NUL before you set them.
        """#),
    .interceptor { trial in
      func sample(_ change: @escaping (String) -> String) -> Exchange {
        Exchange("headers in another case") { exchange in
          for index in exchange.request.headers.indices {
            exchange.request.headers[index].name = change(exchange.request.headers[index].name)
          }
          for index in exchange.head.headers.indices {
            exchange.head.headers[index].name = change(exchange.head.headers[index].name)
          }
          for index in exchange.operation.headers.indices {
            exchange.operation.headers[index].name = change(exchange.operation.headers[index].name)
          }
        }
      }
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let answers = try [sample { $0 }, sample { $0.lowercased() }, sample { $0.uppercased() }].map { exchange -> [String] in
          let instance = try trial.instance()
          defer { instance.destroy() }
          let passage = trial.travel([exchange], stage, instance)[0]
          let before = exchange.request.headers.filter { $0.name.lowercased() == "x-double" }.map(\.value)
          let after = passage.request.headers.filter { $0.name.lowercased() == "x-double" }.map(\.value)
          trial.notes.expect(before == after, "a header that stood twice, with \(before), stands there with \(after)", at: place)
          return passage.steps.map { "\($0.hook.name) \($0.verdict) \($0.staged.elements.count)" }
        }
        trial.notes.expect(Set(answers).count == 1, "it answers otherwise when header names come in another case", at: place)
      }
      try trial.exercise()
    })
}
