internal import Carabiner
internal import CarabinerABI
internal import CarabinerWire

extension ManifestReader {
  mutating func readLists(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Lists {
    var lists = Manifest.Lists()
    guard let object = object(json, pointer, knowing: StageKind.allCases.map(\.rawValue)) else { return lists }
    for list in StageKind.allCases {
      guard let value = object[list.rawValue], !refusesList(list, pointer.appending(list.rawValue)) else { continue }
      lists[list] = readList(value, list, pointer.appending(list.rawValue))
    }
    return lists
  }

  private mutating func readList(_ json: JSONValue, _ list: StageKind, _ pointer: JSONPointer) -> [Manifest.Entry] {
    guard case .array(let elements) = json else {
      wrongType(json, pointer, "a list of stages")
      return []
    }
    if list == .parsing, elements.isEmpty {
      problem(.invalidValue, pointer, "the list needs a parser; add json or a plugin")
    }
    var order = StageOrder(pointer: pointer)
    var names: Set<String> = []
    for (index, element) in elements.enumerated() {
      let place = pointer.appending(index)
      guard let entry = readEntry(element, list, place), knows(entry.name, list, place) else { continue }
      guard names.insert(entry.name).inserted else {
        problem(.duplicateName, place, "\(entry.name) is in this list already; remove one of them")
        continue
      }
      order.entries.append((entry, place))
    }
    for problem in order.problems() { report(problem) }
    checkDelegate(in: order)
    return order.entries.map(\.entry)
  }

  /// Reports each entry after the delegate, because it would see the request after the delegate.
  private mutating func checkDelegate(in order: StageOrder) {
    guard let delegate = order.entries.firstIndex(where: { $0.entry.name == StageKind.delegate }) else { return }
    for (entry, place) in order.entries[(delegate + 1)...] {
      problem(
        .orderUnsatisfied, place,
        "\(entry.name) is behind delegate, and the delegate has the last word; move \(entry.name) before it")
    }
  }

  private mutating func readEntry(_ json: JSONValue, _ list: StageKind, _ pointer: JSONPointer) -> Manifest.Entry? {
    if json.string != nil { return text(json, pointer).map { Manifest.Entry(name: $0) } }
    guard case .object = json else {
      wrongType(json, pointer, "a stage's name, or {use: name, before: [names], after: [names]}")
      return nil
    }
    guard let object = object(json, pointer, knowing: ["use", "before", "after"]) else { return nil }
    let before = names(object["before"], pointer.appending("before")).map(\.name)
    let after = names(object["after"], pointer.appending("after")).map(\.name)
    guard let use = object["use"] else {
      problem(.missing, pointer, "the entry has no stage; write use: with its name")
      return nil
    }
    return text(use, pointer.appending("use")).map { Manifest.Entry(name: $0, before: before, after: after) }
  }

  private mutating func knows(_ name: String, _ list: StageKind, _ pointer: JSONPointer) -> Bool {
    if declared.contains(name) { return true }
    if manifest.callProtocol != .graphQL, StageKind.ofBuiltIn(name) != nil {
      refuseBuiltIn(name, pointer)
      return false
    }
    if list.knownBuiltIns.contains(name) { return true }
    if let other = StageKind.ofBuiltIn(name) {
      problem(
        .unknownStage, pointer, "\(name) is a stage of the \(other.rawValue) list, and this is the \(list.rawValue) list; move it"
      )
    } else {
      let builtIns = manifest.callProtocol == .graphQL ? list.knownBuiltIns : []
      let known = builtIns + declared.sorted()
      problem(
        .unknownStage, pointer,
        "there is no stage \(name) for the \(list.rawValue) list\(Suggestion.text(for: name, among: known)); declare it under "
          + (builtIns.isEmpty ? "plugins" : "plugins, or use one of \(builtIns.joined(separator: ", "))"))
    }
    return false
  }

  mutating func readRules(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .array(let entries) = json else { return wrongType(json, pointer, "a list of rules") }
    var rules: [Manifest.Rule] = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let object = object(entry, place, knowing: ["when", "chain", "timeout", "upstream"]) else { continue }
      guard let condition = object["when"], object["chain"] != nil || object["timeout"] != nil || object["upstream"] != nil else {
        problem(
          .missing, place,
          "a rule has a condition, when:, and lists, chain:, or timeout: or upstream:; write when: and one of them")
        continue
      }
      var rule = Manifest.Rule(lists: object["chain"].map { readLists($0, place.appending("chain")) } ?? Manifest.Lists())
      readCondition(condition, place.appending("when"), &rule)
      if let timeout = object["timeout"] { rule.timeout = duration(timeout, place.appending("timeout")) }
      if let upstream = object["upstream"] { rule.upstream = upstreamName(upstream, place.appending("upstream")) }
      rules.append(rule)
    }
    manifest.rules = rules
  }

  private mutating func upstreamName(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let name = text(json, pointer) else { return nil }
    guard declaredUpstreams.contains(name) else {
      problem(
        .invalidValue, pointer,
        "there is no upstream \(name)\(Suggestion.text(for: name, among: declaredUpstreams.sorted())); declare it under upstreams"
      )
      return nil
    }
    return name
  }

  private mutating func readCondition(_ json: JSONValue, _ pointer: JSONPointer, _ rule: inout Manifest.Rule) {
    guard let fields = object(json, pointer, knowing: ["operation", "type", "path"]) else { return }
    for (path, place) in names(fields["path"], pointer.appending("path")) {
      if path.wholeMatch(of: /\/[!-~]*/) != nil, !path.contains("?") {
        rule.paths.insert(path)
      } else {
        problem(.invalidValue, place, "\(path.debugDescription) is not a path; write one that begins with /, without a query")
      }
    }
    rule.operations = names(fields["operation"], pointer.appending("operation")).map { Glob($0.name) }
    for (name, place) in names(fields["type"], pointer.appending("type")) {
      if let type = GraphQLOperationType(rawValue: name) {
        rule.types.insert(type)
      } else {
        let known = GraphQLOperationType.allCases.map(\.rawValue)
        problem(
          .invalidValue, place,
          "\(name) is not an operation type\(Suggestion.text(for: name, among: known)); use \(known.joined(separator: ", "))")
      }
    }
  }
}
