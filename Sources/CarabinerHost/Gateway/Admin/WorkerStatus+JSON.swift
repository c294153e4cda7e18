internal import CarabinerWire
internal import CarabinerWorkers
internal import Foundation

extension WorkerStatus {
  /// The worker as `carabiner status` shows it.
  var json: JSONValue {
    func seconds(_ duration: Duration?) -> JSONValue {
      duration.flatMap { JSONNumber($0 / .seconds(1)) }.map { .number($0) } ?? .null
    }
    var refused = JSONObject()
    for (name, count) in counts.refusedCalls.sorted(by: { $0.key < $1.key }) { refused[name] = .count(count) }
    return [
      "group": .string(group), "state": .string(state), "secondsLeft": seconds(timeLeft), "upSeconds": seconds(uptime),
      "process": process.map { .count($0) } ?? .null, "generation": .count(generation),
      "entries": .array(entries.map { .string($0) }), "lanes": .count(lanes), "underWay": .count(underWay),
      "waiting": .count(waiting), "memoryBytes": memoryBytes.map { .count($0) } ?? .null, "memoryLimit": .count(memoryLimit),
      "cpuSeconds": seconds(processorTime), "restarts": .count(restarts), "lastEnd": lastEnd?.json ?? .null,
      "missingLayers": .array(missingLayers.map { .string($0) }), "refusedCalls": .object(refused),
    ]
  }

  private var state: String {
    switch condition {
    case .starting: "starting"
    case .up: "up"
    case .backingOff: "backing off"
    case .open: "open"
    case .stopped: "stopped"
    }
  }
}

extension WorkerStatus.End {
  fileprivate var json: JSONValue {
    [
      "kind": .string(kind), "reason": .string(reason), "hooks": .string(place), "at": .string(time.ISO8601Format()),
      "address": address.map { .string($0) } ?? .null, "lines": .array(lines.map { .string($0) }),
    ]
  }
}
