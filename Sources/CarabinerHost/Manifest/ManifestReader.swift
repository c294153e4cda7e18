internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import Glibc

/// Reads a manifest and collects everything that is wrong with it.
struct ManifestReader {
  private(set) var problems: [ManifestProblem] = []
  private var manifest = Manifest()
  private let directory: String

  private init(directory: String) { self.directory = directory }

  private static let topKeys = [
    "carabiner", "endpoint", "headers", "settings", "plugins", "built-ins", "chain", "rules", "$schema",
  ]

  static func read(_ json: JSONValue, directory: String) -> (manifest: Manifest, problems: [ManifestProblem]) {
    var reader = ManifestReader(directory: directory)
    reader.read(json)
    return (reader.manifest, reader.problems)
  }

  private mutating func read(_ json: JSONValue) {
    let root = JSONPointer()
    guard let top = object(json, root, knowing: Self.topKeys) else { return }
    guard let version = top["carabiner"] else {
      return problem(.missing, root, "the version is missing; begin with carabiner: 1")
    }
    guard version.int == 1 else {
      return problem(
        .unsupportedVersion, root.appending("carabiner"), "version \(version) is not known; this host reads carabiner: 1")
    }
    if let endpoint = top["endpoint"] { manifest.endpoint = text(endpoint, root.appending("endpoint")) }
    if let headers = top["headers"] { readHeaders(headers, root.appending("headers")) }
    if let settings = top["settings"] { readSettings(settings, root.appending("settings")) }
    if let builtIns = top["built-ins"] { readBuiltIns(builtIns, root.appending("built-ins")) }
    if let plugins = top["plugins"] { readPlugins(plugins, root.appending("plugins")) }
    if let chain = top["chain"] { manifest.lists = readLists(chain, root.appending("chain")) }
    if let rules = top["rules"] { readRules(rules, root.appending("rules")) }
    warnAboutUnused()
  }

  private mutating func readHeaders(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .object(let object) = json else { return wrongType(json, pointer, "an object of texts") }
    for (name, value) in object {
      if let value = text(value, pointer.appending(name)) { manifest.headers.add(name: name, value: value) }
    }
  }

  // MARK: Settings

  private mutating func readSettings(_ json: JSONValue, _ pointer: JSONPointer) {
    let keys = [
      "staging", "timeout", "connect-timeout", "maximum-head", "maximum-body", "maximum-attempts", "plugin-retries",
      "cancel-grace", "ca-file", "store-records",
    ]
    guard let object = object(json, pointer, knowing: keys) else { return }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "staging":
        if let mode = value.string.flatMap(StagedCopy.Mode.init(rawValue:)) {
          manifest.settings.staging = mode
        } else {
          problem(.invalidValue, place, "\(value) is no kind of staging; use directory or memfd")
        }
      case "timeout": manifest.settings.timeout = duration(value, place)
      case "connect-timeout": manifest.settings.connectTimeout = duration(value, place) ?? .zero
      case "cancel-grace": manifest.settings.cancelGrace = duration(value, place) ?? .zero
      case "maximum-head": manifest.settings.maximumHeadBytes = bytes(value, place) ?? 0
      case "maximum-body": manifest.settings.maximumBodyBytes = bytes(value, place) ?? 0
      case "maximum-attempts": manifest.settings.maximumAttempts = count(value, place, 1...1000) ?? 1
      case "plugin-retries": manifest.settings.pluginRetries = count(value, place, 0...1000) ?? 0
      case "store-records": manifest.settings.storeRecords = count(value, place, 0...100_000_000) ?? 0
      case "ca-file": manifest.settings.certificateAuthorityFile = text(value, place).map(absolute)
      default: break
      }
    }
  }

  private mutating func readBuiltIns(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let object = object(json, pointer, knowing: ["max-retry", "persisted-queries"]) else { return }
    if let retry = object["max-retry"] {
      let place = pointer.appending("max-retry")
      let keys = ["maximum-retries", "base-delay", "multiplier", "maximum-delay", "exponential-backoff", "jitter"]
      guard let object = self.object(retry, place, knowing: keys) else { return }
      for (key, value) in object {
        let place = place.appending(key)
        switch key {
        case "maximum-retries": manifest.maxRetry.maxRetries = count(value, place, 0...1000) ?? 0
        case "base-delay": manifest.maxRetry.baseDelay = duration(value, place)?.seconds ?? 0
        case "maximum-delay": manifest.maxRetry.maxDelay = duration(value, place)?.seconds ?? 0
        case "multiplier":
          guard let number = value.double, number >= 1, number <= 100 else {
            problem(.invalidValue, place, "\(value) is no number from 1 to 100")
            continue
          }
          manifest.maxRetry.multiplier = number
        case "exponential-backoff": manifest.maxRetry.enableExponentialBackoff = truth(value, place)
        case "jitter": manifest.maxRetry.enableJitter = truth(value, place)
        default: break
        }
      }
    }
    if let persisted = object["persisted-queries"] {
      let place = pointer.appending("persisted-queries")
      guard let object = self.object(persisted, place, knowing: ["enabled"]) else { return }
      if let enabled = object["enabled"] { manifest.persistedQueries = truth(enabled, place.appending("enabled")) }
    }
  }

  // MARK: Plugins

  private static let pluginKeys = [
    "name", "file", "ffi", "sha256", "interceptor", "config", "grants", "on-fault", "timeout", "mandatory",
  ]

  private mutating func readPlugins(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .array(let entries) = json else { return wrongType(json, pointer, "a list of plugins") }
    for (index, entry) in entries.enumerated() { readPlugin(entry, pointer.appending(index)) }
  }

  private mutating func readPlugin(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let object = object(json, pointer, knowing: Self.pluginKeys) else { return }
    guard let name = object["name"].flatMap({ text($0, pointer.appending("name")) }) else {
      if object["name"] == nil { problem(.missing, pointer, "the plugin has no name") }
      return
    }
    guard isName(name) else {
      return problem(
        .invalidValue, pointer.appending("name"), "\(name.debugDescription) is no name; use lower-case letters, digits and -")
    }
    guard !manifest.plugins.contains(where: { $0.name == name }) else {
      return problem(.duplicateName, pointer.appending("name"), "there is a plugin \(name) already; names must be unique")
    }
    guard !StageList.allCases.contains(where: { $0.builtIns.contains(name) }) else {
      return problem(.duplicateName, pointer.appending("name"), "\(name) is the name of a built-in stage; choose another")
    }
    guard let source = source(object, pointer, name) else { return }
    var plugin = Manifest.Plugin(name: name, source: source, pointer: pointer)
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "interceptor": plugin.interceptor = text(value, place)
      case "config":
        if case .object = value { plugin.configuration = value } else { wrongType(value, place, "an object") }
      case "grants": plugin.grants = grants(value, place)
      case "on-fault":
        switch value.string {
        case "fail": plugin.skipsOnFault = false
        case "skip": plugin.skipsOnFault = true
        default: problem(.invalidValue, place, "\(value) is no fault policy; use fail or skip")
        }
      case "timeout": plugin.timeout = duration(value, place)
      case "mandatory": plugin.isMandatory = truth(value, place)
      default: break
      }
    }
    manifest.plugins.append(plugin)
  }

  private mutating func source(
    _ object: JSONObject, _ pointer: JSONPointer, _ name: String
  ) -> Manifest.Plugin.Source? {
    switch (object["file"], object["ffi"]) {
    case (let file?, nil):
      guard let path = text(file, pointer.appending("file")).map(absolute) else { return nil }
      guard unsafe access(path, F_OK) == 0 else {
        problem(.missing, pointer.appending("file"), "there is no file \(path); build the plugin, or correct the path")
        return nil
      }
      guard let pin = object["sha256"] else { return .file(path, pin: nil) }
      guard let digits = pin.string, digits.count == 64, digits.allSatisfy(\.isHexDigit) else {
        problem(.invalidValue, pointer.appending("sha256"), "a pin is 64 hexadecimal digits, as sha256sum prints them")
        return nil
      }
      return .file(path, pin: digits.lowercased())
    case (nil, let declaration?):
      return .ffi(declaration)
    default:
      problem(.missing, pointer, "the plugin \(name) needs either file or ffi, and not both")
      return nil
    }
  }

  private mutating func grants(_ json: JSONValue, _ pointer: JSONPointer) -> Set<String> {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of services")
      return []
    }
    var grants: Set<String> = []
    for (index, entry) in entries.enumerated() {
      guard let name = entry.string, HostServices.grantable.contains(name) else {
        problem(
          .invalidValue, pointer.appending(index),
          "\(entry) is no service that can be granted\(Suggestion.text(for: entry.string ?? "", among: HostServices.grantable)); "
            + "there is \(HostServices.grantable.sorted().joined(separator: ", "))")
        continue
      }
      grants.insert(name)
    }
    return grants
  }

  // MARK: Chains and rules

  private mutating func readLists(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Lists {
    var lists = Manifest.Lists()
    guard let object = object(json, pointer, knowing: StageList.allCases.map(\.rawValue)) else { return lists }
    for list in StageList.allCases {
      guard let value = object[list.rawValue] else { continue }
      lists[list] = readList(value, list, pointer.appending(list.rawValue))
    }
    return lists
  }

  private mutating func readList(_ json: JSONValue, _ list: StageList, _ pointer: JSONPointer) -> [Manifest.Entry] {
    guard case .array(let elements) = json else {
      wrongType(json, pointer, "a list of stages")
      return []
    }
    var entries: [Manifest.Entry] = []
    for (index, element) in elements.enumerated() {
      let place = pointer.appending(index)
      guard let entry = readEntry(element, place) else { continue }
      let known = list.builtIns + manifest.plugins.map(\.name)
      guard known.contains(entry.name) else {
        problem(
          .unknownStage, place,
          "there is no stage \(entry.name) for the \(list.rawValue) list\(Suggestion.text(for: entry.name, among: known)); declare it "
            + "under plugins, or use one of \(list.builtIns.joined(separator: ", "))")
        continue
      }
      guard !entries.contains(where: { $0.name == entry.name }) else {
        problem(.duplicateName, place, "\(entry.name) stands in this list already")
        continue
      }
      entries.append(entry)
    }
    checkOrder(entries, pointer)
    return entries
  }

  private mutating func readEntry(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Entry? {
    if let name = json.string { return Manifest.Entry(name: name) }
    guard let object = object(json, pointer, knowing: ["use", "before", "after"]) else { return nil }
    guard let name = object["use"]?.string else {
      problem(.missing, pointer, "an entry names its stage with use:")
      return nil
    }
    return Manifest.Entry(
      name: name, before: names(object["before"], pointer.appending("before")),
      after: names(object["after"], pointer.appending("after")))
  }

  private mutating func names(_ json: JSONValue?, _ pointer: JSONPointer) -> [String] {
    switch json {
    case nil: return []
    case .string(let name): return [name]
    case .array(let elements): return elements.compactMap(\.string)
    case let other?:
      wrongType(other, pointer, "a name or a list of names")
      return []
    }
  }

  /// The list is the order; what entries say about it is checked, not solved.
  private mutating func checkOrder(_ entries: [Manifest.Entry], _ pointer: JSONPointer) {
    let position = Dictionary(entries.enumerated().map { ($1.name, $0) }) { first, _ in first }
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      for other in entry.before where position[other].map({ $0 <= index }) ?? false {
        problem(.orderUnsatisfied, place, "\(entry.name) must stand before \(other) but stands after it; move one of them")
      }
      for other in entry.after where position[other].map({ $0 >= index }) ?? false {
        problem(.orderUnsatisfied, place, "\(entry.name) must stand after \(other) but stands before it; move one of them")
      }
      for other in entry.before + entry.after where position[other] == nil {
        problem(.orderUnsatisfied, place, "\(entry.name) speaks of \(other), which is not in this list")
      }
      for other in entry.before
      where position[other].map({ entries[$0].before.contains(entry.name) }) ?? false && other < entry.name {
        problem(.orderUnsatisfied, place, "\(entry.name) and \(other) each want to stand before the other: a cycle")
      }
    }
  }

  private mutating func readRules(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .array(let entries) = json else { return wrongType(json, pointer, "a list of rules") }
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let object = object(entry, place, knowing: ["when", "chain"]) else { continue }
      guard let condition = object["when"], let chain = object["chain"] else {
        problem(.missing, place, "a rule has a condition, when:, and lists, chain:")
        continue
      }
      var rule = Manifest.Rule(lists: readLists(chain, place.appending("chain")))
      let whenPlace = place.appending("when")
      guard let fields = self.object(condition, whenPlace, knowing: ["operation", "type"]) else { continue }
      rule.operations = names(fields["operation"], whenPlace.appending("operation")).map { Glob($0) }
      for name in names(fields["type"], whenPlace.appending("type")) {
        if let type = GraphQLOperationType(rawValue: name) {
          rule.types.insert(type)
        } else {
          problem(
            .invalidValue, whenPlace.appending("type"),
            "\(name) is no operation type\(Suggestion.text(for: name, among: GraphQLOperationType.allCases.map(\.rawValue)))")
        }
      }
      manifest.rules.append(rule)
    }
  }

  private mutating func warnAboutUnused() {
    let lists = [manifest.lists] + manifest.rules.map(\.lists)
    let used = Set(lists.flatMap { list in StageList.allCases.flatMap { list[$0] ?? [] } }.map(\.name))
    for plugin in manifest.plugins where !used.contains(plugin.name) {
      manifest.warnings.append(
        ManifestProblem(.unknownStage, at: plugin.pointer, "the plugin \(plugin.name) stands in no list and will not run"))
    }
  }

  // MARK: Values

  private mutating func problem(_ code: ManifestProblem.Code, _ pointer: JSONPointer, _ message: String) {
    problems.append(ManifestProblem(code, at: pointer, message))
  }

  private mutating func wrongType(_ json: JSONValue, _ pointer: JSONPointer, _ wanted: String) {
    problem(.wrongType, pointer, "this must be \(wanted), and is a \(json.kind)")
  }

  private mutating func object(_ json: JSONValue, _ pointer: JSONPointer, knowing keys: [String]) -> JSONObject? {
    guard case .object(let object) = json else {
      wrongType(json, pointer, "an object")
      return nil
    }
    for key in object.keys where !keys.contains(key) {
      problem(
        .unknownKey, pointer.appending(key),
        "unknown key \(key)\(Suggestion.text(for: key, among: keys)); known are \(keys.filter { $0 != "$schema" }.joined(separator: ", "))"
      )
    }
    return object
  }

  private mutating func text(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = json.string, !text.isEmpty else {
      wrongType(json, pointer, "a text that is not empty")
      return nil
    }
    return text
  }

  private mutating func truth(_ json: JSONValue, _ pointer: JSONPointer) -> Bool {
    guard let truth = json.bool else {
      wrongType(json, pointer, "true or false")
      return false
    }
    return truth
  }

  private mutating func count(_ json: JSONValue, _ pointer: JSONPointer, _ range: ClosedRange<Int>) -> Int? {
    guard let count = json.int, range.contains(count) else {
      problem(.invalidValue, pointer, "\(json) is no whole number from \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    return count
  }

  private mutating func duration(_ json: JSONValue, _ pointer: JSONPointer) -> Duration? {
    guard let duration = json.string.flatMap(Quantity.duration) else {
      problem(.invalidValue, pointer, "\(json) is no duration; write 250ms, 30s or 2m")
      return nil
    }
    return duration
  }

  private mutating func bytes(_ json: JSONValue, _ pointer: JSONPointer) -> Int? {
    guard let bytes = json.string.flatMap(Quantity.bytes) ?? json.int, bytes > 0 else {
      problem(.invalidValue, pointer, "\(json) is no size; write 256KiB or 64MiB")
      return nil
    }
    return bytes
  }

  private func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }

  private func isName(_ name: String) -> Bool {
    name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "-")
    }
  }
}
