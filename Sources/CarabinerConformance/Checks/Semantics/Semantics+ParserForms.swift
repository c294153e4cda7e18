internal import CCarabiner
internal import CarabinerBridge
internal import CarabinerWire

/// Different forms of a body with the same meaning.
enum ParserForms {
  /// The name of a form, and the body in it. The first one is the plainest.
  typealias Form = (name: String, body: [UInt8])

  /// The forms of a body of one of the content types of ``ParserTrial``; empty if it has only one.
  static func forms(_ type: String, like sample: [UInt8]) -> [Form] {
    let texts: [(String, String)] =
      switch type {
      case "events": events
      case "multipart/mixed": parts(delimiter(of: sample))
      case "application/json": sample.first == UInt8(ascii: "{") ? objects : []
      default: []
      }
    return texts.map { ($0, Array($1.utf8)) }
  }

  private static let objects = [
    ("plain JSON", #"{"data":{"books":[{"id":"1"}]}}"#),
    ("white space", " {\r\n\t\"data\" : { \"books\" : [ { \"id\" : \"1\" } ] } }\n "),
    ("an escape in a name", #"{"\u0064ata":{"bo\u006fks":[{"id":"\u0031"}]}}"#),
    ("a member that no parser knows", #"{"zq":{"data":null,"errors":[1]},"data":{"books":[{"id":"1"}]},"zr":"\"data\":{"}"#),
    ("extensions before its data", #"{"extensions":{"data":{"books":[]}},"data":{"books":[{"id":"1"}]}}"#),
  ]

  private static let events: [(String, String)] = {
    let plain = (1...2).map { "event: next\ndata: {\"data\":{\"a\":\($0)}}\n\n" }.joined() + "event: complete\ndata: \n\n"
    return [
      ("plain events", plain),
      ("no space after a colon", plain.replacing("event: ", with: "event:").replacing("data: ", with: "data:")),
      ("lines that end in CR LF", plain.replacing("\n", with: "\r\n")),
      ("lines that end in CR", plain.replacing("\n", with: "\r")),
      (
        "comments",
        ":\n\n" + plain.replacing("data: {", with: ": data: {}\ndata: {").replacing("event: next", with: ": ping\nevent: next")
      ),
      ("ids and times", plain.replacing("event: next", with: "id: 7\nretry: 10\nevent: next")),
      ("fields that no parser knows", plain.replacing("event: next", with: "zq: data: 1\nevent: next\nzq")),
      ("the name after the data", plain.replacing(#/event: next\n(data: .*)\n/#) { "\($0.output.1)\nevent: next\n" }),
      ("data of two lines", plain.replacing("data: {\"data\":", with: "data: {\"data\":\ndata: ")),
      ("a byte order mark", "\u{FEFF}" + plain),
    ]
  }()

  private static func parts(_ delimiter: String) -> [(String, String)] {
    func body(_ fields: String = "Content-Type: application/json", start: String = "\r\n", padding: String = "", end: String = "")
      -> String
    {
      let parts = (0..<2).map {
        "\(delimiter)\(padding)\r\n\(fields)\r\n\r\n{\"data\":{\"a\":\($0)},\"hasNext\":\($0 == 0)}\r\n"
      }
      return start + parts.joined() + "\(delimiter)--\(padding)\r\n\(end)"
    }
    return [
      ("plain parts", body()), ("nothing before the first delimiter", body(start: "")),
      ("a preamble", body(start: "preamble\r\n--zq\r\n\r\n")), ("an epilogue", body(end: "epilogue\r\n--zq\r\n")),
      ("fields in lower case", body("content-type: application/json; charset=utf-8\r\ncontent-length: 30")),
      ("fields that no parser knows", body("X-Zq: 1\r\nContent-Type: application/json")),
      ("white space after a delimiter", body(padding: " \t")),
      (
        "white space in its JSON",
        body().replacing(#""hasNext":"#, with: #""hasNext" :\r\n "#).replacing(#""data":{"#, with: #""data" : { "#)
      ),
      (
        "its members in another order",
        body().replacing(#/\{("data":\{"a":\d\}),("hasNext":\w+)\}/#) { "{\($0.output.2),\($0.output.1)}" }
      ),
    ]
  }

  /// The line of the first delimiter.
  private static func delimiter(of body: [UInt8]) -> String {
    let text = String(decoding: body.prefix(200), as: UTF8.self)
    return text.split(separator: "\r\n").first.map(String.init) ?? "---"
  }
}

extension Check {
  /// Parses the forms of each body, and compares the results.
  static func readsOtherForms(_ trial: InterceptorTrial) throws {
    for type in ["application/json", "events", "multipart/mixed"] {
      try? ParserTrial(trial).everyBody(of: [type]) { body, exchange, travel in
        func read(_ form: ParserForms.Form) -> [[JSONValue?]] {
          travel(exchange([form.body])).elements.compactMap { element in
            let hasNext = element.flags & UInt32(CRB_RESULT_HAS_NEXT) != 0
            return StagedJSON.object(element.bytes).map { [$0["data"], $0["errors"], .bool(hasNext)] }
          }
        }
        let forms = ParserForms.forms(type, like: body)
        guard let plain = forms.first else { return }
        let expected = read(plain)
        guard !expected.isEmpty else { return }
        for form in forms.dropFirst() where read(form) != expected {
          trial.notes.fail("a body with \(form.name) gives other results than the same one without", at: trial.interceptor.id)
        }
      }
    }
  }
}
