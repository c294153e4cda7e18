internal import CarabinerABI
internal import CarabinerWire

extension ManifestReader {
  mutating func readPlugins(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .array(let entries) = json else { return wrongType(json, pointer, "a list of plugins") }
    var plugins: [Manifest.Plugin] = []
    for (index, entry) in entries.enumerated() {
      if let plugin = readPlugin(entry, pointer.appending(index)) { plugins.append(plugin) }
    }
    checkGroups(plugins)
    manifest.plugins = plugins
  }

  private mutating func readPlugin(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Plugin? {
    guard case .object(let object) = json else {
      wrongType(json, pointer, "an object")
      return nil
    }
    let name = pluginName(object["name"], pointer)
    let source = source(object, pointer)
    guard var plugin = Manifest.Plugin.fields.read(json, pointer, &self), let name, let source else { return nil }
    (plugin.name, plugin.source, plugin.pointer) = (name, source, pointer)
    if case .worker(var settings) = plugin.isolation, settings.group.isEmpty {
      settings.group = name
      plugin.isolation = .worker(settings)
    }
    return plugin
  }

  private mutating func pluginName(_ json: JSONValue?, _ pointer: JSONPointer) -> String? {
    guard let json else {
      problem(.missing, pointer, "the plugin has no name; write name: with its name for lists")
      return nil
    }
    let place = pointer.appending("name")
    guard let name = text(json, place) else { return nil }
    guard Self.isName(name) else {
      problem(.invalidValue, place, "\(name.debugDescription) is not a name; use lower-case letters, digits and -")
      return nil
    }
    if let list = StageKind.ofBuiltIn(name) {
      problem(
        .duplicateName, place, "\(name) is the name of a built-in stage of the \(list.rawValue) list; choose another")
      return nil
    }
    guard declared.insert(name).inserted else {
      problem(.duplicateName, place, "there is a plugin \(name) already; names must be unique, choose another")
      return nil
    }
    return name
  }

  static func isName(_ name: String) -> Bool {
    name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "-")
    }
  }

  private mutating func source(_ object: JSONObject, _ pointer: JSONPointer) -> Manifest.Plugin.Source? {
    let given = ["file", "url", "ffi"].filter { object.contains($0) }
    guard given.count <= 1 else {
      problem(.invalidValue, pointer, "the plugin has both \(given[0]) and \(given[1]); remove one of them")
      return nil
    }
    switch (object["file"], object["url"], object["ffi"]) {
    case (let file?, _, _):
      let digest = object["sha256"].flatMap { pin($0, pointer.appending("sha256")) }
      let path = existing(file, pointer.appending("file"), "build the plugin, or correct the path")
      return path.map { .file($0, pin: digest) }
    case (_, let url?, _): return downloaded(url, object["sha256"], pointer)
    case (_, _, let declaration?):
      for key in Manifest.Plugin.libraryKeys where object.contains(key) {
        problem(.invalidValue, pointer.appending(key), "\(key) is not allowed beside ffi; remove it")
      }
      guard case .object = declaration else {
        wrongType(declaration, pointer.appending("ffi"), "an object")
        return nil
      }
      if let library = declaration["library"]?.string, library.contains("/") {
        _ = resolved(library, pointer.appending("ffi").appending("library"))
      }
      return .ffi(declaration)
    case (nil, nil, nil):
      problem(.missing, pointer, "the plugin needs either file, url or ffi; write one of them")
      return nil
    }
  }

  private mutating func downloaded(
    _ url: JSONValue, _ digest: JSONValue?, _ pointer: JSONPointer
  ) -> Manifest.Plugin.Source? {
    let url = downloadURL(url, pointer.appending("url"))
    guard let digest else {
      problem(
        .missing, pointer,
        "a plugin with url needs sha256, so that no other file is loaded; write the digest that sha256sum prints")
      return nil
    }
    guard let digits = pin(digest, pointer.appending("sha256")), let url else { return nil }
    return .url(url, pin: digits)
  }

  private mutating func pin(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let digits = json.string, digits.utf8.count == 64, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      problem(.invalidValue, pointer, "a pin is 64 hexadecimal digits, as sha256sum prints them, in quotes if all are decimal")
      return nil
    }
    return digits.lowercased()
  }

  fileprivate mutating func faultPolicy(_ json: JSONValue, _ pointer: JSONPointer) -> FaultPolicy {
    guard let policy = json.string.flatMap(FaultPolicy.init) else {
      problem(
        .invalidValue, pointer,
        "\(json) is not a fault policy; use fail, skip, or open-after-N with a number from 1 to 1000, as in open-after-5")
      return .fail
    }
    return policy
  }

  fileprivate mutating func libraryPaths(_ json: JSONValue, _ pointer: JSONPointer) -> Set<String> {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of texts, as readelf -d shows them")
      return []
    }
    var paths: Set<String> = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let path = text(entry, place) else { continue }
      if !paths.insert(path).inserted { problem(.duplicateName, place, "\(path) is allowed already; remove one of them") }
    }
    return paths
  }

  fileprivate mutating func grants(_ json: JSONValue, _ pointer: JSONPointer) -> Set<String> {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of services")
      return []
    }
    var grants: Set<String> = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let name = entry.string, Manifest.Plugin.grantableServices.contains(name) else {
        problem(
          .invalidValue, place,
          "\(entry) is not a service that can be granted\(Suggestion.text(for: entry.string ?? "", among: Manifest.Plugin.grantableServices)); "
            + "there is \(Manifest.Plugin.grantableServices.sorted().joined(separator: ", "))")
        continue
      }
      if !grants.insert(name).inserted { problem(.duplicateName, place, "\(name) is granted already; remove one of them") }
    }
    return grants
  }
}

extension Manifest.Plugin {
  /// Keys that are valid only for a library and not for a declared call.
  fileprivate static let libraryKeys = [
    "sha256", "interceptor", "config", "grants", "on-fault", "timeout", "messages-to-clients", "maximum-buffers", "isolation",
  ]

  static let fields = Fields(Self(name: "", source: .ffi(.null), pointer: JSONPointer())) {
    $0.other(
      "name", ##""$ref": "#/$defs/name""##, "The name in lists; not the name of a built-in stage.",
      missing: "")
    $0.other("file", ValueKind<String>.text.schema, "The .so file, relative to the manifest.")
    $0.other(
      "url", #""type": "string", "pattern": "\#(Manifest.Download.pattern)[!$-~]+$", "not": {"pattern": "[$][{]"}"#,
      "The URL of the .so file, instead of file: https, or http on this machine. It needs sha256.")
    $0.other("ffi", ##""$ref": "#/$defs/call""##)
    $0.other(
      "sha256", #""type": "string", "pattern": "^[0-9A-Fa-f]{64}$""#, "The digest of the file. Any other file is refused.")
    $0.key("interceptor", \.interceptor, .text, "The id of the interceptor, if the library has several.")
    $0.key("config", \.configuration, .objectWithReferences, "The configuration, checked against the plugin's own schema.")
    $0.key("grants", \.grants, .grants)
    $0.key(
      "library-paths", \.libraryPaths, .libraryPaths,
      "Allowed entries of RPATH and RUNPATH, and paths in NEEDED, as readelf -d shows them.")
    $0.key(
      "on-fault", \.onFault, .faultPolicy,
      "The effect of a fault on a request: fail; skip the plugin; open-after-5: fail, and skip the plugin after five faults in a row.",
      usual: "fail")
    $0.key("timeout", \.timeout, .duration, "The longest time that one hook may be suspended.")
    $0.key(
      "messages-to-clients", \.sendsMessagesToClients, .truth,
      "Whether clients get message and detail of a rejection with a status of 400 to 499 or 503.")
    $0.key("maximum-buffers", \.maximumBufferBytes, .size, "The most bytes of buffers that the plugin may hold.")
    $0.key("mandatory", \.isMandatory, .truth, "Whether the plugin cannot be switched off.")
    $0.key(
      "enabled", \.isEnabled, .truth, "Whether the plugin runs. CARABINER_ENABLE and CARABINER_DISABLE override it.")
    $0.key(
      "isolation", \.isolation, .isolation,
      "The process that the plugin runs in: the host's, or a confined one. CARABINER_ISOLATE overrides in-process.",
      usual: "in-process")
    let libraryOnly = libraryKeys.map { #""\#($0)": false"# }.joined(separator: ", ")
    $0.rule(
      #"""
      "oneOf": [{"required": ["file"]}, {"required": ["url"]}, {"required": ["ffi"]}],
      "dependentSchemas": {"url": {"required": ["sha256"]}, "ffi": {"properties": {\#(libraryOnly)}}},
      "not": {"required": ["mandatory", "enabled"], "properties": {"mandatory": {"const": true}, "enabled": {"const": false}}}
      """#
    ) { reader, plugin, _, pointer in
      guard plugin.isMandatory, !plugin.isEnabled else { return }
      reader.problem(
        .invalidValue, pointer.appending("enabled"),
        "a mandatory plugin cannot be disabled; remove enabled: false or mandatory: true")
    }
  }
}

extension ValueKind<Set<String>> {
  fileprivate static var grants: Self {
    let services = JSONValue.array(Manifest.Plugin.grantableServices.sorted().map { .string($0) })
    return Self(#""type": "array", "uniqueItems": true, "items": {"enum": \#(services)}"#) { $0.grants($1, $2) }
  }

  fileprivate static var libraryPaths: Self {
    Self(#""type": "array", "uniqueItems": true, "items": {\#(ValueKind<String>.text.schema)}"#) { $0.libraryPaths($1, $2) }
  }
}

extension ValueKind<FaultPolicy> {
  fileprivate static var faultPolicy: Self {
    Self(#""type": "string", "pattern": "^(fail|skip|open-after-([1-9][0-9]?[0-9]?|1000))$""#) { $0.faultPolicy($1, $2) }
  }
}

extension ValueKind<Isolation> {
  fileprivate static var isolation: Self {
    let description =
      "A worker is a confined process. Entries of a group share it and must have the same values of all other keys."
    return Self(
      #""oneOf": [{"enum": ["in-process", "worker"]}, {"description": "\#(description)", \#(WorkerSettings.fields.schema)}]"#
    ) { $0.isolation($1, $2) }
  }
}
