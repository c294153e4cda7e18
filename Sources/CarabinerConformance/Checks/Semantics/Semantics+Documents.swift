internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let readDocuments = Check(
    "SE21", level: 3, "reads documents as GraphQL does",
    page: Page(
      rule: """
        The answer to a document does not change if comments, commas and white space are added. A document that a stage changes is
        GraphQL as before, with the operations, the fields and the texts of the old one. A document with a block string is answered
        like one with the same text in quotation marks.
        """,
      reason: """
        Quotation marks and braces in a comment mean nothing, and braces in a text mean nothing. A guard that takes them for GraphQL
        lets deep queries pass, or refuses good ones.
        """,
      example: "for (p = document; *p; p++) if (*p == '{') depth++;",
      remedy: """
        Read the document as a list of tokens: skip comments to the end of their line, and texts with their escapes. Ask
        operation_type() for the kind of the operation.
        """),
    .interceptor { trial in
      let stages = trial.stages.filter { $0.kind == .graphQL && $0.needs.contains(.document) }
      guard !stages.isEmpty else { throw TrialNotes.Skip("none of its GraphQL stages reads documents") }
      for stage in stages {
        if !trial.options.capabilities.contains("varies") {
          try ignoresComments(trial, stage)
          try readsBlockStrings(trial, stage)
        }
        if stage.mutates.contains(.document) { try keepsDocuments(trial, stage) }
      }
    })

  /// Documents without strings and comments. Some are so large that a guard may refuse them.
  private static let plainDocuments: [(String, String)] =
    [2, 5, 12, 40].map { depth in
      (
        "a document of \(depth) levels",
        "query Books " + String(repeating: "{ book(id: 1) ", count: depth) + "{ id }" + String(repeating: " }", count: depth)
      )
    }
    + [10, 200].map { count in
      ("a document of \(count) fields", "query Books { " + (0..<count).map { "a\($0): book(id: \($0)) { id } " }.joined() + "}")
    } + [
      ("an introspection", "query Books { __schema { types { name fields { name } } } }"),
      ("a document with fragments", "query Books { books { ...Book } } fragment Book on Book { id title author { name } }"),
      ("a document with directives", "query Books($a: Boolean = true) { books @include(if: $a) { id @skip(if: false) } }"),
      ("a document with lists", "query Books { books(ids: [1, 2, 3], filter: { a: { b: { c: 1 } } }) { id } }"),
    ]

  private static var noises: [(String, (String) -> String)] {
    [
      ("a comment before it", { "# it's a \"comment\" with } ) ] in it\n" + $0 }),
      ("a comment of opening brackets", { "# \(String(repeating: "{ (", count: 60))\n" + $0 }),
      ("comments in it", { $0.replacing("{ ", with: "{ # } ) don't \"\"\"\n ") }),
      ("a comment at its end", { $0 + "\n# mutation subscription __schema { a { b \"" }),
      ("commas and white space", { $0.replacing(" ", with: " ,\r\n\t ") }),
      (
        "as little white space as possible",
        { $0.replacing(" {", with: "{").replacing("{ ", with: "{").replacing(" }", with: "}") }
      ),
    ]
  }

  /// The verdict of a new instance for a document, with the code of its error.
  private static func answer(_ document: String, _ name: String, _ trial: InterceptorTrial, _ stage: StageHooks) throws -> String
  {
    let instance = try trial.instance()
    defer { instance.destroy() }
    let exchange = Exchange(name) { $0.operation.document = document }
    let first = trial.travel([exchange], stage, instance)[0].steps.first
    return "\(first.map { Verdict.name($0.verdict) } ?? "")\(first?.staged.failure.map { " \($0.code)" } ?? "")"
  }

  /// Multi-line strings that look like GraphQL.
  private static let blockTexts = [
    "first: 1000000\nlast: 1000000\nlimit: 1000000", "a { b { c { d {\n{ { { {\n( ( [ [", "} } ) ]\n} }",
    "# a comment\nmutation A { b }\nsubscription B { c }", "query Books { __schema { types { name } } }\n__type",
    "fragment F on Book { ...F }\n...F\n@include(if: false)",
  ]

  private static func readsBlockStrings(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    for text in blockTexts {
      func document(_ text: String) -> String { "query Books { book(text: \(text)) { id } }" }
      for block in ["\n\(text)\n", "\(text) ", "it's \"\n\(text)\n\"\" ", "\\\"\"\"\n\(text)\n"] {
        // A stage may refuse quotation marks in any string, so the plain string has them too.
        let plain = document(block.replacing("\\\"", with: "\"").json)
        let expected = try answer(plain, "a document with a text", trial, stage)
        guard try answer(plain, "a document with a text", trial, stage) == expected else { continue }
        let found = try answer(document("\"\"\"\(block)\"\"\""), "a document with a block string", trial, stage)
        trial.notes.expect(
          found == expected,
          "it answers \(expected) for a document with the text \(text.debugDescription), and \(found) for it as a block string",
          at: "\(trial.interceptor.id) graphql.on_request")
      }
    }
  }

  private static func ignoresComments(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    for (name, document) in plainDocuments {
      let plain = try answer(document, name, trial, stage)
      guard try answer(document, name, trial, stage) == plain else { continue }
      for (noise, change) in noises {
        let other = try answer(change(document), name, trial, stage)
        trial.notes.expect(
          other == plain, "it answers \(plain) for \(name), and \(other) for the same one with \(noise)",
          at: "\(trial.interceptor.id) graphql.on_request")
      }
    }
  }

  private static func keepsDocuments(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    let instance = try trial.instance()
    defer { instance.destroy() }
    let texts = [
      #"query Books { a: books(text: "a } { b # c \" d \\") { id } b: books(text: """x } " \""" { y""") { title } }"#,
      "query Books { books { id } } # { a } \"\nfragment Unused on Book { id } # } end",
      "{ books { id, author { name } ... on Book @include(if: true) { title } } }",
      #"query Books($a: [Int!] = [1, 2], $b: In = { c: "d } e", f: { g: 1 } }) { books(a: $a, b: $b) { id } }"#,
      #"subscription Ticks { tick(text: "é\u{1F600} \u00e9") }"#,
      EverydayText.all.enumerated().map { "query Q\($0) { books(text: \($1.json)) { id } }" }.joined(separator: " "),
    ]
    for document in texts + plainDocuments.map(\.1) {
      guard let before = try? GraphQLDocument(parsing: document) else { continue }
      let exchange = Exchange("the document \(document.prefix(40))…") {
        $0.operation.document = document
        $0.operation.name = before.operations.first?.name
        if before.operations.first?.type == .subscription { $0.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION) }
      }
      let passage = trial.travel([exchange], stage, instance)[0]
      guard passage.operation.document != document else { continue }
      let place = "\(trial.interceptor.id) graphql.on_request"
      guard let after = try? GraphQLDocument(parsing: passage.operation.document) else {
        trial.notes.fail(
          "it changes a document into one that is not GraphQL: \(passage.operation.document.prefix(160))", at: place)
        continue
      }
      let (old, new) = (DocumentContents(before), DocumentContents(after))
      trial.notes.expect(
        old.fields.isSubset(of: new.fields) && old.values.isSubset(of: new.values),
        "it loses or changes fields or values of a document: \(passage.operation.document.prefix(160))", at: place)
    }
  }
}

/// The fields and values of a document, without regard to its form.
private struct DocumentContents {
  /// The fields with the fields around them.
  private(set) var fields: Set<String> = []
  /// The arguments and default values.
  private(set) var values: Set<GraphQLDocument.Value> = []

  init(_ document: GraphQLDocument) {
    for operation in document.operations {
      let name = "\(operation.type) \(operation.name ?? "")"
      fields.insert(name)
      values.formUnion(operation.variables.compactMap(\.defaultValue))
      add(operation.selectionSet, in: name)
    }
    for fragment in document.fragments { add(fragment.selectionSet, in: "fragment \(fragment.name)") }
  }

  private mutating func add(_ selections: [GraphQLDocument.Selection], in path: String) {
    for selection in selections {
      switch selection {
      case .field(let field):
        let path = "\(path) \(field.responseKey): \(field.name)"
        fields.insert(path)
        values.formUnion(field.arguments.map(\.value))
        add(field.selectionSet, in: path)
      case .fragmentSpread(let spread): fields.insert("\(path) ...\(spread.name)")
      case .inlineFragment(let fragment): add(fragment.selectionSet, in: path)
      }
    }
  }
}
