internal import CCarabiner
internal import CarabinerWire

extension Exchange {
  /// A text longer than the buffers of careless plugins.
  private static let long = String(repeating: "long-", count: 200)
  /// Texts of multi-byte characters at different offsets. If a plugin cuts texts after any number of bytes up to 1,024, one of them
  /// is cut inside of a character.
  static let foreign = ["é\u{1F600} ß", "é\u{1F600}日ß"].flatMap { word in
    ["", "a", "ab", "abc"].map { $0 + String(repeating: word, count: 120) }
  }

  /// Characters whose length in UTF-8 changes in lower or upper case.
  static let resized = ["\u{130}", "\u{130}\u{130}\u{130}", "\u{212A}", "\u{212A}\u{212A}\u{212A}\u{212A}", "\u{1E9E}"]

  /// The texts that a client or a server may send as the value of a header.
  private static let values = [
    "1", "0", "", " ", long, "a=1; b=\"2\", c", "de;q=0.5,fr;q=0.25,en", "\"quoted\\\"", "-9223372036854775808",
    "99999999999999999999999999", "Bearer abcdefghijklmnop", "Wed, 21 Oct 2026 07:28:00 GMT", "W/\"67ab43\"",
    "private, max-age=60",
    "0.5", "a\tb", "fr, de;q=0.25",
  ]

  private static let usualOperations = [
    "Login", "SignIn", "Search", "Checkout", "IntrospectionQuery", "__ApolloGetServiceDefinition__",
  ]
  private static let usualCodes = [
    "UNAUTHENTICATED", "BAD_CREDENTIALS", "FORBIDDEN", "NOT_FOUND", "RATE_LIMITED", "INTERNAL_SERVER_ERROR",
    "PERSISTED_QUERY_NOT_FOUND",
  ]

  /// Exchanges with less usual forms of everything, which contain the words of a plugin.
  static func varied(_ words: Vocabulary) -> [Exchange] {
    operations(words) + results(words) + responses(words) + failures
  }

  /// Calls of several clients to several servers. A plugin may keep state for each client and each server.
  static func callers(_ words: Vocabulary) -> [Exchange] {
    (1...4).map { number in
      Exchange("a query of client \(number)") {
        let fields = words.fields("\(number)00")
        $0.operation.name = "Books\(number)"
        $0.operation.document = "query Books\(number) { books { id } }"
        $0.operation.headers.replace(
          by: fields + [HeaderSample(name: "Authorization", value: "Bearer \(number)", isSensitive: true)])
        $0.request.headers.replace(by: fields)
        $0.request.url = "https://books-\(number).example/graphql"
        $0.head.headers.replace(by: HeaderSample.server + fields)
      }
    }
  }

  /// Errors for callers with different languages, because a plugin may translate its error messages.
  private static let languages = [
    "de", "fr", "es", "it", "pt-BR", "nl", "sv", "pl", "cs", "tr", "ru", "uk", "el", "he", "ar", "hi", "th", "ja", "ko", "zh-CN",
    "vi",
  ].flatMap { language in
    [
      ErrorSample(), ErrorSample(code: 404, flags: UInt32(CRB_ERROR_HTTP_STATUS), httpStatus: 404),
      ErrorSample(code: 2, flags: UInt32(CRB_ERROR_TRANSPORT) | UInt32(CRB_ERROR_TIMEOUT), httpStatus: 0),
    ].map { error in
      Exchange("an error for a caller who reads \(language)") {
        let field = HeaderSample(name: "Accept-Language", value: language)
        $0.operation.headers.replace(by: [field])
        $0.request.headers.replace(by: [field])
        $0.results = []
        $0.chunks = []
        $0.ending = .error(error)
      }
    }
  }

  /// Calls that end with long error messages, and with messages that are not valid UTF-8 after a cut.
  private static let failures =
    languages
    + (foreign + [long] + resized.map { "\($0) token=éé, password=éé; secret=éé Bearer éé http://éé" }).map { text in
      Exchange("an error with the message \(text.prefix(8))…") {
        $0.results = []
        $0.chunks = []
        $0.ending = .error(ErrorSample(message: text, detail: "{\"text\":\"\(text)\"}"))
      }
    }

  private static func operations(_ words: Vocabulary) -> [Exchange] {
    // Texts that the plugin looks for. A number follows a text that ends in `=` or `:`.
    let own = words.phrases.filter { !$0.contains { $0.isNewline } }.map {
      $0.hasSuffix("=") || $0.hasSuffix(":") ? "\($0)86400" : $0
    }
    let headers = (values + foreign + own).map { value in
      Exchange("headers with the value \(value.prefix(24).debugDescription)") {
        let fields = words.fields(value)
        $0.operation.headers.replace(by: fields)
        $0.request.headers.replace(by: fields)
        $0.head.headers.replace(by: fields)
      }
    }
    let codes = (usualCodes + words.names).map { "{\"message\":\"no\",\"extensions\":{\"code\":\($0.json)}}" }.joined(
      separator: ",")
    let named = (usualOperations + words.names.filter { !$0.contains("-") }).map { name in
      Exchange("the operation \(name) with errors of each code") {
        $0.operation.name = name
        $0.operation.document = "query \(name) { books { id } }"
        $0.operation.headers.replace(by: words.names.map { HeaderSample(name: $0, value: "one") } + HeaderSample.browser)
        $0.results = [ResultSample(data: "null", errors: "[\(codes)]")]
      }
    }
    let members = ([#""text""#, "1.5", "null", #"{"id":1}"#, "[]"] + foreign.map { "\"\($0)\"" }).map { value in
      Exchange("variables with members of the value \(value.prefix(24))") {
        $0.operation.variables = "{" + words.names.map { "\"\($0)\" : \(value)" }.joined(separator: " ,\n") + "}"
      }
    }
    let documents = [" \n\t ", "# a comment", "#", "{", "\"\"\""].map { document in
      Exchange("the document \(document.debugDescription)") {
        $0.operation.document = document
        $0.isMalformed = true
      }
    }
    let numbers = ["-1", "3000000000", "99999999999999999999", "1e400"].map { number in
      Exchange("an operation with arguments and variables of \(number)") {
        let names = ["first", "last", "limit", "offset"] + words.names.filter { !$0.contains("-") }
        $0.operation.document = "query Books { books(\(names.map { "\($0): \(number)" }.joined(separator: ", "))) { id } }"
        $0.operation.variables = "{\(names.map { "\"\($0)\":\(number)" }.joined(separator: ","))}"
      }
    }
    let texts = foreign.map { text in
      Exchange("a document with the text \(text.prefix(8))…") {
        $0.operation.document = "query Books { books(text: \"\(text)\") { id } }"
      }
    }
    return headers + members + documents + numbers + texts + named + [
      Exchange("an operation with a long name") {
        $0.operation.name = String(repeating: "Name", count: 100)
        $0.operation.document = "query \(String(repeating: "Name", count: 100)) { books { id } }"
      },
      Exchange("variables with long and foreign names") {
        $0.operation.variables = #"{"\#(long)":{"\#(foreign[0])":"\#(foreign[1])"},"\#(foreign[0])":1,"a":9007199254740993}"#
      },
      Exchange("empty variables and extensions") {
        $0.operation.variables = "{ }"
        $0.operation.extensions = "{}"
      },
      Exchange("a document with comments, and strings that look like them") {
        $0.operation.document =
          "# first\nquery Books($first: Int = 1 # {\n) { books(first: $first, t: \"a # b \\\" {\", u: \"\"\"x # \" y\"\"\") { id } } # end"
        $0.operation.extensions =
          #"{"persistedQuery":{"version":1,"sha256Hash":"\#(String(repeating: "ab", count: 32))"},"others":{}}"#
      },
      Exchange("a document with everyday texts") {
        $0.operation.document =
          "query Books { " + EverydayText.all.enumerated().map { "a\($0): books(text: \($1.json)) { id } " }.joined() + "}"
      },
      Exchange("variables with everyday texts") { $0.operation.variables = EverydayText.object(words) },
      Exchange("a long document") {
        $0.operation.document = "query Books { " + (0..<2000).map { "a\($0): books { id } " }.joined() + "}"
      },
    ]
  }

  /// Members whose values many plugins hide or cut.
  private static let usualMembers = [
    "email", "phone", "name", "card", "iban", "password", "token", "secret", "ssn", "address", "description",
  ]

  /// JSON strings with escapes where a plugin may cut them: anywhere in long strings, and near the end of short ones.
  private static let escaped =
    ["", "a", "ab", "abc"].map { "\"\($0)\(String(repeating: #"\ud83d\ude00 b"#, count: 200))\"" }
    + (0...8).flatMap { count in
      [#"\""#, #"\\"#, #"\u00e9"#, #"\ud83d\ude00"#].map { "\"ann \($0)\(String(repeating: "1", count: count))\"" }
    }

  /// Errors whose messages are long JSON strings of escapes. A cut at any byte is inside of an escape in most of them.
  private static let escapedMessages = [#"\""#, #"\n"#, #"\u00e9"#].flatMap { escape in
    ["", "a"].map { start -> (String, ResultSample) in
      let message = "\"\(start)\(String(repeating: escape, count: 2400 / escape.utf8.count))\""
      return ("an error with the message \(message.prefix(9))…", ResultSample(data: "null", errors: "[{\"message\":\(message)}]"))
    }
  }

  private static func results(_ words: Vocabulary) -> [Exchange] {
    let numbers = #""large":9007199254740993,"exact":0.1000000000000000055,"price":12.50,\#(ForeignMembers.text)"#
    let members =
      [
        #""text with, {braces} and [more]""#, "1.50", "9007199254740993", "null", #"{"id":"1","name":"x"}"#, #"["a","b"]"#,
        "\"\(long)\"",
      ]
      + foreign.map { "\"\($0)\"" }
    let names = words.names + usualMembers.filter { !words.names.contains($0) }
    let objects = (members + escaped).map { value in
      "{" + names.map { "\"\($0)\":\(value)" }.joined(separator: ",") + ",\(numbers)}"
    }
    let phrases = JSONValue.array((words.phrases + words.names).map { .string("see \($0) or \($0): there") }).serializedText
    var samples: [(String, ResultSample)] = objects.map {
      ("members \($0.prefix(40))", ResultSample(data: $0, extensions: #"{"others":{"keep":1}}"#))
    }
    samples += [
      ("texts", ResultSample(data: #"{"list":\#(phrases),\#(numbers)}"#, extensions: #"{"others":{"keep":1}}"#)),
      ("errors and no data", ResultSample(data: nil, errors: #"[{"message":"no","extensions":{"code":"INTERNAL"}}]"#)),
      ("errors and null data", ResultSample(data: "null", errors: #"[{"message":"no"}]"#, extensions: #"{"others":{"keep":1}}"#)),
      ("everyday texts", ResultSample(data: EverydayText.object(words), extensions: #"{"others":{"keep":1}}"#)),
      (
        "errors beside data",
        ResultSample(data: objects.first, errors: #"[{"message":"no"}]"#, extensions: #"{"others":{"keep":1}}"#)
      ),
      ("a long list", ResultSample(data: "{\"list\":[" + Array(repeating: objects[0], count: 120).joined(separator: ",") + "]}")),
    ]
    samples += (foreign + [long] + EverydayText.all).map { text in
      let message = JSONValue.string(text).serializedText
      return (
        "an error with the message \(text.prefix(8))…",
        ResultSample(
          data: #"{"books":null}"#,
          errors: #"[{"message":\#(message),"path":["books",0],"extensions":{"code":"INTERNAL","detail":\#(message)}}]"#)
      )
    }
    samples += escapedMessages
    let exchanges = samples.map { name, sample in Exchange("a result with \(name)") { $0.results = [sample] } }
    return exchanges
      + exchanges.map { plain in
        var exchange = plain
        exchange.name += ", its members in another order"
        for index in exchange.results.indices { exchange.results[index].isReversed = true }
        return exchange
      } + [
        Exchange("a subscription whose results have members of the plugin") {
          $0.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
          $0.results = (objects + [EverydayText.object(words)]).map { ResultSample(data: $0, flags: UInt32(CRB_RESULT_HAS_NEXT)) }
        },
        Exchange("a deferred query with members of the plugin") {
          $0.results = [objects[0], EverydayText.object(words)].flatMap { data in
            [
              ResultSample(data: data, flags: UInt32(CRB_RESULT_HAS_NEXT)),
              ResultSample(data: data, flags: UInt32(CRB_RESULT_INCREMENTAL) | UInt32(CRB_RESULT_HAS_NEXT), path: "[]"),
            ]
          }
        },
      ]
  }

  private static func responses(_ words: Vocabulary) -> [Exchange] {
    let lengths = ["0", "1", "-1", "x", "18446744073709551616", ""].map { value in
      Exchange("a response with Content-Length: \(value)") {
        $0.head.headers.append(HeaderSample(name: "Content-Length", value: value))
      }
    }
    let statuses: [UInt32] = [200, 401, 429, 503]
    let states = statuses.flatMap { status in
      ["5", "-1", "soon", "0.5", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT", "7, 8", "", long].map { value in
        Exchange("a response with status \(status) and headers of the value \(value.prefix(32))") {
          $0.head.status = status
          $0.head.headers = words.names.map { HeaderSample(name: $0, value: value) }
          $0.head.headers.removeAll { $0.name.lowercased() == "content-type" }
          $0.head.headers.append(HeaderSample(name: "Content-Type", value: "application/json"))
          $0.results = []
          $0.ending = status < 400 ? .end : .error(ErrorSample(code: Int32(status), httpStatus: Int32(status)))
        }
      }
    }
    let page = "\n<!DOCTYPE html>\n<html><head><title>Maintenance</title></head><body><h1>We are back soon</h1></body></html>\n"
    let pages = statuses.flatMap { status in
      ["text/html; charset=utf-8", "application/json", "text/plain"].flatMap { type in
        [page, String(page.dropFirst().dropLast()), "upstream connect error", ""].map { body in
          Exchange("a page of \(type) with status \(status): \(body.prefix(16).debugDescription)") {
            $0.head.status = status
            $0.head.headers = [HeaderSample(name: "Content-Type", value: type)]
            $0.chunks = body.isEmpty ? [] : [Array(body.utf8)]
            $0.results = []
            $0.isMalformed = true
          }
        }
      }
    }
    let urls = [
      "https://[2001:db8::1]:8443/graphql", "https://user:pass@books.example/graphql#part", "HTTPS://Books.Example:443/GraphQL?",
      "/graphql",
      "https://books.example", "https://books.example?a&b=&=c&a=2", "https://books.example/a%2Fb/../c//?q=%zz%",
      "https://bücher.example/ä",
      "https://\(String(repeating: "a", count: 300)).example/\(long)", "unix:/run/books.sock", "",
    ].map { target in Exchange("a request to \(target.prefix(40))") { $0.request.url = target } }
    let cut = ["{\"data\":{\"books\":[{\"id\":\"1\"", "{\"data\":", "{"].map { body in
      Exchange("a body that ends after \(body.utf8.count) bytes") {
        $0.head.headers.append(HeaderSample(name: "Content-Length", value: "400"))
        $0.chunks = [Array(body.utf8)]
        $0.results = []
        $0.isMalformed = true
      }
    }
    return lengths + states + pages + urls + cut + [
      Exchange("a formatted body") {
        $0.request.body = Array("{\n  \"query\" : \"{ books { id } }\"\n}\n".utf8)
        $0.chunks = ["{\n  \"data\" : {\n    \"books\" : [ ", "{ \"id\" : \"a b\" } ]\n  }\n}", "\n"].map { Array($0.utf8) }
      },
      Exchange("a body with the characters of HTML") {
        let json = #"{"query":"{ a }","data":{"text":"<p title='a'>Tom & \"Jerry\"</p>"}}"#
        $0.request.body = Array(json.utf8)
        $0.chunks = [Array(json.utf8)]
      },
      Exchange("a response with long cookies") {
        $0.head.headers += (0..<3).map { HeaderSample(name: "Set-Cookie", value: "c\($0)=\(long); Path=/", isSensitive: true) }
      },
      Exchange("messages with a hundred headers") {
        let fields = (0..<100).map { HeaderSample(name: "X-Field-\($0)", value: "\($0)") }
        $0.operation.headers += fields
        $0.request.headers += fields
        $0.head.headers += fields
      },
      Exchange("a long body in two chunks") {
        let text = words.phrases.joined(separator: " ") + long
        let body = Array(JSONValue.object(["data": ["text": .string(String(repeating: text, count: 100))]]).serializedText.utf8)
        $0.request.body = body
        $0.chunks = [Array(body[..<(body.count / 2)]), Array(body[(body.count / 2)...])]
      },
    ]
  }
}

extension [HeaderSample] {
  /// Replaces fields of the same names.
  fileprivate mutating func replace(by fields: [HeaderSample]) {
    let names = Set(fields.map { $0.name.lowercased() })
    removeAll { names.contains($0.name.lowercased()) }
    self += fields
  }
}
