extension Check {
  static let hi02 = Check(
    "HI02", level: 5, "withstands JSON nobody would write",
    page: Page(
      rule:
        "JSON nested 100,000 deep, with huge numbers, lone surrogates and NUL in strings neither crashes nor hangs the plugin.",
      reason: """
        Results are raw JSON, checked for syntax by the host and for nothing else. A reader that calls itself for each level runs out of
        stack, and the process ends with it.
        """,
      example:
        "static value *parse(const char **p) { if (**p == '[') return list(parse(p)); … }      /* no limit to the depth */",
      remedy: "Count the depth and stop at a limit, or read without recursion. Take numbers for texts until you need their value."
    ),
    .interceptor { trial in
      let depth = 100_000
      let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let objects = String(repeating: #"{"a":"#, count: 20_000) + "1" + String(repeating: "}", count: 20_000)
      let texts: [(String, String)] = [
        ("lists in lists", deep), ("objects in objects", objects), ("a huge number", "1e999999999"),
        ("a long number", String(repeating: "9", count: 100_000)), ("a lone surrogate", #""\ud800""#),
        ("a NUL in a string", #""a\u0000b""#), ("a NUL in a name", #"{"\u0000":1}"#), ("a name twice", #"{"a":1,"a":2}"#),
        ("an escape at the end of a string", #""\\""#),
      ]
      try trial.exercise(
        texts.map { name, json in
          Exchange("a result with \(name)") {
            $0.results = [ResultSample(data: json, errors: "[\(json)]", extensions: #"{"e":\#(json)}"#)]
            $0.operation.variables = #"{"v":\#(json)}"#
            $0.operation.extensions = #"{"e":\#(json)}"#
            $0.chunks = [Array(#"{"data":\#(json)}"#.utf8)]
          }
        })
    })
}
