internal import CarabinerWire
internal import Glibc

extension ManifestReader {
  private static let isolationKeys = [
    "mode", "group", "workers", "lanes", "memory", "cpu", "arena", "hang", "read", "environment", "restart", "confine",
  ]

  /// The process of an entry. The group is by default the entry's name.
  mutating func isolation(_ json: JSONValue, _ pointer: JSONPointer, of name: String) -> Isolation? {
    switch json {
    case .string: return isWorker(json, pointer).map { $0 ? .worker(WorkerSettings(group: name)) : .inProcess }
    case .object(let object):
      refuseUnknownKeys(of: object, pointer, knowing: Self.isolationKeys)
      guard let mode = object["mode"] else {
        problem(.missing, pointer, "the mode is missing; write mode: worker")
        return nil
      }
      guard let isWorker = isWorker(mode, pointer.appending("mode")) else { return nil }
      let settings = workerSettings(object, pointer, WorkerSettings(group: name))
      guard !isWorker else { return .worker(settings) }
      for key in object.keys where key != "mode" && Self.isolationKeys.contains(key) {
        problem(
          .invalidValue, pointer.appending(key),
          "\(key) is a setting of workers, and the mode is in-process; remove it, or write mode: worker")
      }
      return .inProcess
    default:
      wrongType(json, pointer, "in-process, worker, or an object that begins with mode: worker")
      return nil
    }
  }

  private mutating func isWorker(_ json: JSONValue, _ pointer: JSONPointer) -> Bool? {
    switch json.string {
    case "in-process": return false
    case "worker": return true
    default:
      problem(.invalidValue, pointer, "\(json) is not an isolation; write in-process or worker")
      return nil
    }
  }

  private mutating func workerSettings(
    _ object: JSONObject, _ pointer: JSONPointer, _ defaults: WorkerSettings
  ) -> WorkerSettings {
    var settings = defaults
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "group": settings.group = group(value, place) ?? settings.group
      case "workers": settings.workers = count(value, place, WorkerSettings.counts) ?? settings.workers
      case "lanes": settings.lanes = count(value, place, WorkerSettings.counts)
      case "memory": settings.memoryBytes = bytes(value, place, WorkerSettings.memorySizes) ?? settings.memoryBytes
      case "cpu": settings.processorPercentage = processorPercentage(value, place)
      case "arena": settings.arenaBytes = arena(value, place) ?? settings.arenaBytes
      case "hang": settings.hang = duration(value, place) ?? settings.hang
      case "read": settings.readablePaths = readablePaths(value, place)
      case "environment": settings.environment = variables(value, place)
      case "restart": settings.restarts = restarts(value, place)
      case "confine": settings.confinement = confinement(value, place) ?? settings.confinement
      default: break
      }
    }
    checkAddresses(settings, object, pointer)
    return settings
  }

  /// The size of an arena, rounded up to whole blocks.
  private mutating func arena(_ json: JSONValue, _ pointer: JSONPointer) -> Int? {
    let block = WorkerSettings.arenaBlock
    return bytes(json, pointer, WorkerSettings.arenaSizes).map { ($0 + block - 1) / block * block }
  }

  /// Reports sizes that do not fit into the addresses of a process. It would fail when it starts.
  private mutating func checkAddresses(_ settings: WorkerSettings, _ object: JSONObject, _ pointer: JSONPointer) {
    let lanes = settings.laneCount(processors: .max)
    let needed = settings.addressBytes(arena: settings.arenaBytes, lanes: lanes)
    guard needed > WorkerSettings.addresses else { return }
    let key = ["arena", "lanes", "memory"].first { object[$0] != nil } ?? "arena"
    let room = WorkerSettings.addresses - WorkerSettings.otherAddresses - settings.memoryBytes
    let largest = room / (2 * (lanes + 1)) / (1 << 20)
    let remedy =
      largest > 0
      ? "write an arena of at most \(ByteSizeText.print(largest << 20)), or fewer lanes"
      : "write a memory of at most \(ByteSizeText.print(32 << 30))"
    problem(
      .isolation, pointer.appending(key),
      "a process has \(ByteSizeText.print(WorkerSettings.addresses)) of addresses, and \(lanes) lanes with two arenas of "
        + "\(ByteSizeText.print(settings.arenaBytes)) each, two for control, and a memory of \(ByteSizeText.print(settings.memoryBytes)) "
        + "need \(ByteSizeText.print(needed)); \(remedy)")
  }

  private mutating func group(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let name = text(json, pointer) else { return nil }
    guard isName(name) else {
      problem(.invalidValue, pointer, "\(name.debugDescription) is not a name; use lower-case letters, digits and -")
      return nil
    }
    return name
  }

  private mutating func bytes(_ json: JSONValue, _ pointer: JSONPointer, _ range: ClosedRange<Int>) -> Int? {
    guard let bytes = bytes(json, pointer) else { return nil }
    guard range.contains(bytes) else {
      problem(
        .invalidValue, pointer,
        "\(ByteSizeText.print(bytes)) is too \(bytes < range.lowerBound ? "small" : "large"); write a size from "
          + "\(ByteSizeText.print(range.lowerBound)) to \(ByteSizeText.print(range.upperBound))")
      return nil
    }
    return bytes
  }

  private mutating func processorPercentage(_ json: JSONValue, _ pointer: JSONPointer) -> Int? {
    guard let text = json.string, text.wholeMatch(of: /[1-9][0-9]{0,3}%/) != nil, let percent = Int(text.dropLast()),
      WorkerSettings.processorPercentages.contains(percent)
    else {
      problem(
        .invalidValue, pointer,
        "\(json) is not a share of processors; write a whole number from 1 to 1600 and a per cent sign, as in 50%; 100% is one "
          + "processor")
      return nil
    }
    return percent
  }

  private mutating func confinement(_ json: JSONValue, _ pointer: JSONPointer) -> WorkerSettings.Confinement? {
    guard let confinement = json.string.flatMap(WorkerSettings.Confinement.init(rawValue:)) else {
      problem(.invalidValue, pointer, "\(json) is not a confinement; write strict or available")
      return nil
    }
    return confinement
  }

  private mutating func restarts(_ json: JSONValue, _ pointer: JSONPointer) -> WorkerSettings.Restarts {
    var restarts = WorkerSettings.Restarts()
    guard let object = object(json, pointer, knowing: ["backoff", "maximum", "after", "within"]) else { return restarts }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "backoff": restarts.backoff = duration(value, place) ?? restarts.backoff
      case "maximum": restarts.maximum = duration(value, place) ?? restarts.maximum
      case "after": restarts.after = count(value, place, WorkerSettings.Restarts.counts) ?? restarts.after
      case "within": restarts.within = duration(value, place) ?? restarts.within
      default: break
      }
    }
    if restarts.backoff > restarts.maximum {
      problem(
        .isolation, pointer.appending("maximum"),
        "the maximum of \(DurationText.print(restarts.maximum)) is shorter than the backoff of \(DurationText.print(restarts.backoff)); "
          + "write a longer maximum, or a shorter backoff")
    }
    return restarts
  }

  // MARK: Lists

  /// The texts of a list in sorted order.
  ///
  /// - Parameter read: Returns the text in its normal form; nil after it reported a problem.
  private mutating func sorted(
    _ json: JSONValue, _ pointer: JSONPointer, _ wanted: String,
    _ read: (inout ManifestReader, String, JSONPointer) -> String?
  ) -> [String] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, wanted)
      return []
    }
    var found: Set<String> = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let text = text(entry, place), let normal = read(&self, text, place) else { continue }
      if !found.insert(normal).inserted {
        problem(.duplicateName, place, "\(normal) is in the list already; remove one of them")
      }
    }
    return found.sorted()
  }

  private mutating func readablePaths(_ json: JSONValue, _ pointer: JSONPointer) -> [String] {
    sorted(json, pointer, "a list of absolute paths") { reader, path, place in
      let components = path.split(separator: "/")
      let reason: String? =
        if path.utf8.contains(0) {
          "a path cannot hold NUL; correct it"
        } else if !path.hasPrefix("/") {
          "\(path) is a relative path; write an absolute one, as in /etc/ssl/certs"
        } else if components.contains(where: { $0 == "." || $0 == ".." }) {
          "\(path) has . or .. in it; write the path without them"
        } else if components.isEmpty {
          "\(path) is the whole file system; name the folders that the plugin needs, as in /etc/ssl/certs"
        } else if components[0] == "proc" {
          "\(path) shows other processes, and a worker has a /proc of its own; remove it"
        } else {
          nil
        }
      guard reason == nil else {
        reader.problem(.invalidValue, place, reason ?? "")
        return nil
      }
      let normal = "/\(components.joined(separator: "/"))"
      guard unsafe access(normal, F_OK) == 0 else {
        reader.problem(.missing, place, "there is no file or folder \(normal); correct the path, or remove it")
        return nil
      }
      return normal
    }
  }

  private mutating func variables(_ json: JSONValue, _ pointer: JSONPointer) -> [String] {
    sorted(json, pointer, "a list of names of variables") { reader, name, place in
      guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
        reader.problem(
          .invalidValue, place, "\(name.debugDescription) is not a name of a variable; write the name only, as in [TZ]")
        return nil
      }
      // The dynamic linker reads them before the worker confines itself.
      guard !name.hasPrefix("LD_"), name != "GLIBC_TUNABLES" else {
        reader.problem(
          .invalidValue, place, "\(name) changes how a worker is loaded, before it is confined, and is never passed on; remove it"
        )
        return nil
      }
      return name
    }
  }

  // MARK: Groups

  /// Reports entries that share a group and differ in another key.
  mutating func checkGroups(_ plugins: [Manifest.Plugin]) {
    var first: [String: (name: String, settings: WorkerSettings)] = [:]
    for plugin in plugins {
      guard let settings = plugin.isolation.worker else { continue }
      guard let known = first[settings.group] else {
        first[settings.group] = (plugin.name, settings)
        continue
      }
      for (old, new) in zip(known.settings.values, settings.values) where old.text != new.text {
        problem(
          .isolation, plugin.pointer.appending("isolation").appending(new.key),
          "\(known.name) and \(plugin.name) are in the group \(settings.group) and need the same \(new.key): \(known.name) has "
            + "\(old.text), \(plugin.name) has \(new.text); write the same in both, or give one of them another group")
      }
    }
  }
}
