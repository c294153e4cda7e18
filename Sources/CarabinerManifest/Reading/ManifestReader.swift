internal import Carabiner
internal import CarabinerABI
internal import CarabinerWire

/// Reads a manifest and collects all its problems.
struct ManifestReader {
  /// The problems, in the order in which they were found.
  private(set) var problems: [ManifestProblem] = []
  var manifest = Manifest()
  /// The names of `plugins`, including entries with problems, so that these are not reported again wherever a list uses the name.
  var declared: Set<String> = []
  /// The names of `upstreams`, including entries with problems.
  var declaredUpstreams: Set<String> = [Manifest.mainUpstream]
  let directory: String?

  private init(directory: String?) { self.directory = directory }

  /// Reads a document.
  static func read(_ json: JSONValue, directory: String?) -> (manifest: Manifest, problems: [ManifestProblem]) {
    var reader = ManifestReader(directory: directory)
    reader.read(json)
    return (reader.manifest, reader.problems)
  }

  private static let keys = [
    "carabiner", "protocol", "endpoint", "upstreams", "headers", "settings", "connect", "serve", "plugins", "downloads",
    "built-ins", "chain", "rules", "fleet", "$schema",
  ]

  private mutating func read(_ json: JSONValue) {
    let root = JSONPointer()
    guard case .object(let top) = json else { return wrongType(json, root, "an object that begins with carabiner: 1") }
    guard let version = top["carabiner"] else {
      return problem(.missing, root, "the version is missing; begin with carabiner: 1")
    }
    // Another version may have other keys, so nothing else is checked.
    guard version.number?.int == 1 else {
      return problem(
        .unsupportedVersion, root.appending("carabiner"),
        "version \(version) is not known; this host reads carabiner: 1; use a matching host, or rewrite the manifest")
    }
    refuseUnknownKeys(of: top, root, knowing: Self.keys)
    if let schema = top["$schema"] { _ = text(schema, root.appending("$schema")) }
    // Read first, because the protocol decides which lists and stages exist.
    if let name = top["protocol"] { readProtocol(name, root.appending("protocol")) }
    if let endpoint = top["endpoint"] { manifest.endpoint = endpointURL(endpoint, root.appending("endpoint")) }
    if let upstreams = top["upstreams"] { readUpstreams(upstreams, root.appending("upstreams")) }
    if let headers = top["headers"] { manifest.headers = headerFields(headers, root.appending("headers")) }
    if let settings = top["settings"] {
      manifest.settings = Manifest.Settings.fields.read(settings, root.appending("settings"), &self) ?? manifest.settings
    }
    if let connect = top["connect"] { readConnect(connect, root.appending("connect")) }
    if let serve = top["serve"] {
      manifest.serve = Manifest.Serve.fields.read(serve, root.appending("serve"), &self) ?? manifest.serve
      warnAboutHeaderLists(root.appending("serve"))
    }
    if let fleet = top["fleet"] { manifest.fleet = self.fleet(fleet, root.appending("fleet")) }
    if let builtIns = top["built-ins"] {
      if manifest.callProtocol == .graphQL {
        readBuiltIns(builtIns, root.appending("built-ins"))
      } else {
        refuseBuiltIn("built-ins", root.appending("built-ins"))
      }
    }
    if let plugins = top["plugins"] { readPlugins(plugins, root.appending("plugins")) }
    if let downloads = top["downloads"] { readDownloads(downloads, root.appending("downloads")) }
    if let chain = top["chain"] { manifest.lists = readLists(chain, root.appending("chain")) }
    if let rules = top["rules"] { readRules(rules, root.appending("rules")) }
    warnAboutIdle()
    if top["built-ins"]?["max-retry"] != nil { warnAboutRetries() }
    warnAboutStoreLimits(top["settings"]?.object ?? [:], root.appending("settings"))
    warnAboutSharedStore(root.appending("serve").appending("cache-policy"))
  }

  /// The URL of an endpoint; it may contain references.
  mutating func endpointURL(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = reference(json, pointer) else { return nil }
    guard text.hasPrefix("http://") || text.hasPrefix("https://") || text.contains("${") else {
      problem(
        .invalidValue, pointer,
        "\(PrintableURL(text).description.debugDescription) is not an endpoint; write a URL that begins with https:// or http://")
      return nil
    }
    return text
  }

  /// Headers with values that may contain references.
  mutating func headerFields(_ json: JSONValue, _ pointer: JSONPointer) -> HTTPHeaders {
    var headers = HTTPHeaders()
    guard case .object(let object) = json else {
      wrongType(json, pointer, "an object of texts")
      return headers
    }
    for (name, value) in object {
      let place = pointer.appending(name)
      guard HeaderText.isName(name) else {
        problem(.invalidValue, place, "\(name.debugDescription) is not a header name; use letters, digits and -")
        continue
      }
      guard headers[name] == nil else {
        problem(.duplicateName, place, "\(name) is there already in other letters; header names are case-insensitive")
        continue
      }
      guard let text = value.string else {
        wrongType(value, place, "a text")
        continue
      }
      guard HeaderText.isValue(text) else {
        problem(.invalidValue, place, "a header value cannot hold a line end or NUL; remove it")
        continue
      }
      checkReferences(text, place)
      headers.add(name: name, value: text)
    }
    return headers
  }

  /// Warns about declarations that have no effect.
  private mutating func warnAboutIdle() {
    let lists = [manifest.lists] + manifest.rules.map(\.lists)
    let used = Set(lists.flatMap { lists in StageKind.allCases.flatMap { lists[$0] ?? [] } }.map(\.name))
    for plugin in manifest.plugins where !used.contains(plugin.name) {
      warn(
        .unusedPlugin, plugin.pointer,
        "the plugin \(plugin.name) is not in any list and does not run; add it under chain, or remove it")
    }
    if used.contains("persisted-queries"), !manifest.persistedQueries.isEnabled {
      warn(
        .unusedPlugin, JSONPointer(components: ["chain", "graphql"]),
        "persisted-queries does nothing unless it is enabled; write built-ins: {persisted-queries: {enabled: true}}")
    }
  }

  /// Warns about retry settings if no stage asks for retries.
  private mutating func warnAboutRetries() {
    let mayAsk =
      manifest.plugins.contains(where: \.source.isLibrary) || manifest.persistedQueries.isEnabled
    guard !mayAsk else { return }
    warn(
      .unusedSetting, JSONPointer(components: ["built-ins", "max-retry"]),
      "max-retry does nothing here: it limits and delays retries that stages ask for, and no stage of this manifest asks for one; "
        + "list a plugin that does, or remove it")
  }

  // MARK: Reporting

  mutating func problem(_ code: ManifestProblem.Code, _ pointer: JSONPointer, _ message: String) {
    problems.append(ManifestProblem(code, at: pointer, message))
  }

  mutating func report(_ problem: ManifestProblem) { problems.append(problem) }

  mutating func warn(_ code: ManifestProblem.Code, _ pointer: JSONPointer, _ message: String) {
    manifest.warnings.append(ManifestProblem(code, at: pointer, message))
  }

  mutating func wrongType(_ json: JSONValue, _ pointer: JSONPointer, _ wanted: String) {
    problem(
      .wrongType, pointer,
      "this must be \(wanted), and is \(json.kind == "array" || json.kind == "object" ? "an" : "a") \(json.kind)")
  }
}
