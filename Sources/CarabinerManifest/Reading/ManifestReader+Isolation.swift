internal import CarabinerWire

extension ManifestReader {
  /// The process of an entry. The group is empty if the manifest names none.
  mutating func isolation(_ json: JSONValue, _ pointer: JSONPointer) -> Isolation? {
    switch json {
    case .string:
      guard isMode(json, pointer) else { return nil }
      return json.string == "worker" ? .worker(WorkerSettings(group: "")) : .inProcess
    case .object(let object):
      let fields = WorkerSettings.fields
      guard let settings = fields.read(json, pointer, &self) else { return nil }
      guard object["mode"]?.string != "worker" else { return .worker(settings) }
      for key in object.keys where key != "mode" && fields.names.contains(key) {
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

  mutating func isMode(_ json: JSONValue, _ pointer: JSONPointer) -> Bool {
    if let mode = json.string, ["in-process", "worker"].contains(mode) { return true }
    problem(.invalidValue, pointer, "\(json) is not an isolation; write in-process or worker")
    return false
  }

  /// Reports sizes that do not fit into the addresses of a process. It would fail when it starts.
  mutating func checkAddresses(_ settings: WorkerSettings, _ object: JSONObject, _ pointer: JSONPointer) {
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
      let (olds, news) = (WorkerSettings.fields.texts(of: known.settings), WorkerSettings.fields.texts(of: settings))
      for (old, new) in zip(olds, news) where old.text != new.text {
        problem(
          .isolation, plugin.pointer.appending("isolation").appending(new.key),
          "\(known.name) and \(plugin.name) are in the group \(settings.group) and need the same \(new.key): \(known.name) has "
            + "\(old.text), \(plugin.name) has \(new.text); write the same in both, or give one of them another group")
      }
    }
  }
}
