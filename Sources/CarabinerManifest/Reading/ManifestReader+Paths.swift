internal import CarabinerWire

extension ManifestReader {
  /// Reads `serve.paths`.
  mutating func paths(_ json: JSONValue, _ pointer: JSONPointer) -> [String]? {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of paths")
      return nil
    }
    guard (1...ServePaths.maximum).contains(entries.count) else {
      problem(
        .invalidValue, pointer,
        "a gateway has 1 to \(ServePaths.maximum) paths, and this list has \(entries.count); write paths: [\(ServePaths.usual)]")
      return nil
    }
    var paths: [String] = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let path = text(entry, place) else { continue }
      guard ServePaths.isPath(path) else {
        problem(.invalidValue, place, "\(path.debugDescription) is not a path; write one that begins with /, without a query")
        continue
      }
      guard !ServePaths.reserved.contains(path) else {
        problem(.invalidValue, place, "\(path) is a path of the gateway itself; write another one, as \(ServePaths.usual)")
        continue
      }
      if paths.contains(path) { problem(.duplicateName, place, "\(path) is in the list already; remove one of them") }
      paths.append(path)
    }
    return paths
  }
}
