internal import CarabinerWire

extension ManifestReader {
  mutating func operations(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Operations? {
    guard let object = object(json, pointer, knowing: ["allow", "limits", "introspection", "keep-descriptions"]) else {
      return nil
    }
    var operations = Manifest.Operations()
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "allow": operations.allow = allowList(value, place)
      case "limits": operations.limits = operationLimits(value, place)
      case "introspection": operations.allowsIntrospection = truth(value, place) ?? true
      case "keep-descriptions": operations.keepsDescriptions = truth(value, place) ?? false
      default: break
      }
    }
    return operations
  }

  private mutating func allowList(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.AllowList? {
    guard let object = object(json, pointer, knowing: ["files", "mode"]) else { return nil }
    let modes = OperationListMode.allCases.map(\.rawValue).joined(separator: ", ")
    guard let value = object["mode"] else {
      problem(.missing, pointer, "the mode is missing; write one of \(modes), and begin with audit")
      return nil
    }
    guard let mode = value.string.flatMap(OperationListMode.init) else {
      problem(.invalidValue, pointer.appending("mode"), "\(value) is not a mode of a list of operations; use one of \(modes)")
      return nil
    }
    var list = Manifest.AllowList(mode: mode)
    guard let files = object["files"] else {
      problem(.missing, pointer, "the files are missing; list the files of operations that the build of the clients wrote")
      return nil
    }
    let place = pointer.appending("files")
    guard case .array(let entries) = files else {
      wrongType(files, place, "a list of files")
      return nil
    }
    if !(1...Manifest.AllowList.maximumFiles).contains(entries.count) {
      problem(.invalidValue, place, "this list has \(entries.count) files; name 1 to \(Manifest.AllowList.maximumFiles)")
      return nil
    }
    for (index, entry) in entries.enumerated() {
      let place = place.appending(index)
      guard let path = existing(entry, place, "write the list of operations, or correct the path") else { continue }
      list.files.append(Manifest.AllowList.File(path: path, pointer: place))
    }
    return list
  }

  private mutating func operationLimits(_ json: JSONValue, _ pointer: JSONPointer) -> OperationLimits? {
    let keys = ["depth", "fields", "root-fields", "aliases", "directives", "cost", "tokens", "list-arguments", "warn-only"]
    guard let object = object(json, pointer, knowing: keys) else { return nil }
    var limits = OperationLimits()
    for (key, value) in object {
      let place = pointer.appending(key)
      let most = Manifest.Operations.highestLimit
      switch key {
      case "depth": limits.depth = count(value, place, 1...most)
      case "fields": limits.fields = count(value, place, 1...most)
      case "root-fields": limits.rootFields = count(value, place, 1...most)
      case "aliases": limits.aliases = count(value, place, 0...most)
      case "directives": limits.directives = count(value, place, 0...most)
      case "cost": limits.cost = count(value, place, 1...most)
      case "tokens": limits.tokens = count(value, place, 1...GraphQLLimits.defaultMaximumTokens) ?? limits.tokens
      case "list-arguments": limits.listArguments = argumentNames(value, place)
      case "warn-only": limits.warnsOnly = truth(value, place) ?? false
      default: break
      }
    }
    return limits
  }

  private mutating func argumentNames(_ json: JSONValue, _ pointer: JSONPointer) -> [String] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of names of arguments")
      return []
    }
    guard entries.count <= Manifest.Operations.maximumListArguments else {
      problem(.invalidValue, pointer, "this list has more than \(Manifest.Operations.maximumListArguments) names; remove some")
      return []
    }
    return entries.enumerated().compactMap { index, entry in
      let place = pointer.appending(index)
      guard let name = text(entry, place) else { return nil }
      guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
        problem(.invalidValue, place, "\(name.debugDescription) is not the name of an argument; use letters, digits and _")
        return nil
      }
      return name
    }
  }
}
