internal import CarabinerWire

extension Manifest.Operations {
  static let fields = Fields(Self()) {
    $0.key("allow", \.allow, .object(Manifest.AllowList.fields), "A list of operations.")
    $0.key(
      "limits", \.limits, .object(OperationLimits.fields),
      "Limits for the size of operations. Fragments count where they are spread.")
    $0.key("introspection", \.allowsIntrospection, .truth, "Whether clients may ask for __schema and __type.")
    $0.key(
      "keep-descriptions", \.keepsDescriptions, .truth,
      "Whether the upstream gets the descriptions of operations, fragments and variables. Servers with an older grammar than that of "
        + "September 2025 refuse them.")
  }
}

extension Manifest.AllowList {
  static let fields = Fields(Self(mode: .audit)) {
    $0.key(
      "files", \.files,
      .list(of: .listed, "a list of files", 1...maximumFiles) { "this list has \($0) files; name 1 to \(maximumFiles)" },
      "Files with operations: Apollo's persisted query manifest, version 1, or a JSON object of texts by id. At most 64 MiB each.",
      missing: "the files are missing; list the files of operations that the build of the clients wrote", isFirst: false)
    $0.key(
      "mode", \.mode, .word("is not a mode of a list of operations; use one of", ", "),
      "audit runs all operations and counts those that are not listed. document runs listed texts and ids. id runs only ids.",
      missing:
        "the mode is missing; write one of \(OperationListMode.allCases.map(\.rawValue).joined(separator: ", ")), and begin "
        + "with audit")
  }
}

extension OperationLimits {
  static let fields = Fields(Self()) {
    let most = Manifest.Operations.highestLimit
    $0.key("depth", \.depth, .count(1...most), "The most nested fields.")
    $0.key("fields", \.fields, .count(1...most), "The most fields.")
    $0.key("root-fields", \.rootFields, .count(1...most), "The most fields of the outermost selection set.")
    $0.key("aliases", \.aliases, .count(0...most), "The most aliases.")
    $0.key("directives", \.directives, .count(0...most), "The most directives.")
    $0.key(
      "cost", \.cost, .count(1...most),
      "The highest cost: 1 for each field, times the product of list-arguments of the fields above.")
    $0.key(
      "tokens", \.tokens, .count(1...GraphQLLimits.defaultMaximumTokens),
      "The most tokens of a document. Without limits, \(GraphQLLimits.defaultMaximumTokens).")
    $0.key(
      "list-arguments", \.listArguments,
      .list(
        of: .text(
          #""type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$""#, { $0.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil },
          "is not the name of an argument; use letters, digits and _"),
        "a list of names of arguments", 0...Manifest.Operations.maximumListArguments,
        { _ in "this list has more than \(Manifest.Operations.maximumListArguments) names; remove some" }),
      "The arguments whose values multiply the cost of the fields below.")
    $0.key("warn-only", \.warnsOnly, .truth, "Whether operations above a limit run and are only counted.")
  }
}

extension ValueKind<Manifest.AllowList.File> {
  /// A file with operations.
  fileprivate static var listed: Self {
    Self(##""$ref": "#/$defs/text""##) { reader, json, place in
      reader.existing(json, place, "write the list of operations, or correct the path")
        .map { Manifest.AllowList.File(path: $0, pointer: place) }
    }
  }
}
