internal import CarabinerWire

/// The two lines of `carabiner status` for a worker.
enum WorkerLines {
  /// The text of a worker's object.
  static func text(_ worker: JSONValue) -> String {
    let heading = "worker \(word(worker["group"]))".padded(to: width)
    return "\(heading) \(process(worker))\n\("".padded(to: width)) \(resources(worker))"
  }

  private static let width = 16

  private static func process(_ worker: JSONValue) -> String {
    var state = word(worker["state"])
    if let left = worker["secondsLeft"]?.double { state += " \(time(left))" }
    if worker["state"] == "up", let seconds = worker["upSeconds"]?.double { state += " \(time(seconds))" }
    let number = worker["process"].flatMap { $0.isNull ? nil : ", process \(word($0))" } ?? ""
    let entries = worker["entries"]?.array?.compactMap(\.string).joined(separator: ", ") ?? ""
    return "\(state)\(number), generation \(word(worker["generation"])): \(entries); \(count(worker["lanes"], "lane")), "
      + "\(word(worker["underWay"])) under way, \(word(worker["waiting"])) waiting"
  }

  private static func resources(_ worker: JSONValue) -> String {
    let limit = (worker["memoryLimit"]?.double ?? 0) / mebibyte
    let memory = worker["memoryBytes"]?.double.map { "\(Int(($0 / mebibyte).rounded()))" } ?? "-"
    var parts = ["\(memory) of \(Int(limit)) MiB", "\(tenths(worker["cpuSeconds"]?.double ?? 0)) s CPU"]
    var restarts = count(worker["restarts"], "restart")
    if let end = worker["lastEnd"], !end.isNull {
      let hooks = end["hooks"]?.string ?? ""
      restarts += " (\(word(end["kind"]))\(hooks.isEmpty ? "" : " in \(hooks)"), \(word(end["at"])))"
    }
    parts.append(restarts)
    if let missing = worker["missingLayers"]?.array, !missing.isEmpty {
      // The reasons are in the log and in the JSON.
      let names = missing.map { word($0).split(separator: ": ").first.map(String.init) ?? "" }
      parts.append("missing: \(names.joined(separator: "; "))")
    }
    if let refused = worker["refusedCalls"]?.object, !refused.isEmpty {
      parts.append("refused: \(refused.map { "\($0.key) \(word($0.value))" }.joined(separator: ", "))")
    }
    return parts.joined(separator: ", ")
  }

  private static let mebibyte = Double(1 << 20)

  private static func word(_ value: JSONValue?) -> String {
    value?.string ?? value.map { $0.isNull ? "-" : $0.description } ?? "-"
  }

  private static func count(_ value: JSONValue?, _ noun: String) -> String { "\(word(value)) \(noun)\(value == 1 ? "" : "s")" }

  private static func tenths(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }

  /// The two largest units of a time, such as `2h13m`.
  static func time(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 1e12))
    let units = [(whole / 86_400, "d"), (whole / 3600 % 24, "h"), (whole / 60 % 60, "m"), (whole % 60, "s")]
    guard let first = units.firstIndex(where: { $0.0 > 0 }) else { return "\(tenths(seconds))s" }
    return units[first...].prefix(2).filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
