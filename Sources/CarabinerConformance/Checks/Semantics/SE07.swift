extension Check {
  static let se07 = Check(
    "SE07", level: 3, "stands every status a server may answer",
    page: Page(
      rule: #"""
        Heads with status 100, 103, 204, 301, 304, 400, 404, 500 and 599, with and without a content type, with and without headers, are handled.
        """#,
      reason: #"""
        204 and 304 have no body, 1xx are no end, and a proxy's error page is HTML: a stage that expects JSON of them fails in the worst moment.
        """#,
      example: #"""
        crb_view type; host->header_get(call, text("Content-Type"), &type);  if (type.ptr[0] == 'a') …   /* there is none */
        """#,
      remedy: "Look at what header_get() answers, and let pass what is not yours."),
    .interceptor { trial in
      let statuses: [UInt32] = [100, 103, 200, 204, 301, 304, 400, 404, 500, 599]
      try trial.exercise(
        statuses.flatMap { status -> [Exchange] in
          [
            Exchange("status \(status)") { $0.head.status = status },
            Exchange("status \(status) without a content type") {
              $0.head.status = status
              $0.head.headers.removeAll { $0.name == "Content-Type" }
            },
            Exchange("status \(status) without headers and body") {
              $0.head.status = status
              $0.head.headers = []
              $0.chunks = []
            },
          ]
        })
    })
}
