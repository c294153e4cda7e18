internal import CarabinerABI
internal import CarabinerWire

extension ManifestReader {
  private static let pluginKeys = [
    "name", "file", "url", "ffi", "sha256", "interceptor", "config", "grants", "library-paths", "on-fault", "timeout",
    "messages-to-clients", "maximum-buffers", "mandatory", "enabled", "isolation",
  ]
  /// Keys that are valid only for a library and not for a declared call.
  private static let libraryKeys = [
    "sha256", "interceptor", "config", "grants", "on-fault", "timeout", "messages-to-clients", "maximum-buffers", "isolation",
  ]

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
    guard let object = object(json, pointer, knowing: Self.pluginKeys) else { return nil }
    let name = pluginName(object["name"], pointer)
    let source = source(object, pointer)
    var plugin = Manifest.Plugin(name: name ?? "", source: source ?? .ffi(.null), pointer: pointer)
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "interceptor": plugin.interceptor = text(value, place)
      case "config": plugin.configuration = configuration(value, place)
      case "grants": plugin.grants = grants(value, place)
      case "library-paths": plugin.libraryPaths = libraryPaths(value, place)
      case "on-fault": plugin.onFault = faultPolicy(value, place)
      case "timeout": plugin.timeout = duration(value, place)
      case "messages-to-clients": plugin.sendsMessagesToClients = truth(value, place) ?? false
      case "maximum-buffers": plugin.maximumBufferBytes = bytes(value, place) ?? plugin.maximumBufferBytes
      case "mandatory": plugin.isMandatory = truth(value, place) ?? false
      case "enabled": plugin.isEnabled = truth(value, place) ?? true
      case "isolation": plugin.isolation = isolation(value, place, of: plugin.name) ?? .inProcess
      default: break
      }
    }
    if plugin.isMandatory, !plugin.isEnabled {
      problem(
        .invalidValue, pointer.appending("enabled"),
        "a mandatory plugin cannot be disabled; remove enabled: false or mandatory: true")
    }
    return name == nil || source == nil ? nil : plugin
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
      for key in Self.libraryKeys where object.contains(key) {
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

  private mutating func configuration(_ json: JSONValue, _ pointer: JSONPointer) -> JSONValue {
    guard case .object = json else {
      wrongType(json, pointer, "an object")
      return .object([:])
    }
    for (place, text) in json.texts(at: pointer) { checkReferences(text, place) }
    return json
  }

  private mutating func faultPolicy(_ json: JSONValue, _ pointer: JSONPointer) -> FaultPolicy {
    guard let policy = json.string.flatMap(FaultPolicy.init) else {
      problem(
        .invalidValue, pointer,
        "\(json) is not a fault policy; use fail, skip, or open-after-N with a number from 1 to 1000, as in open-after-5")
      return .fail
    }
    return policy
  }

  private mutating func libraryPaths(_ json: JSONValue, _ pointer: JSONPointer) -> Set<String> {
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

  private mutating func grants(_ json: JSONValue, _ pointer: JSONPointer) -> Set<String> {
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
