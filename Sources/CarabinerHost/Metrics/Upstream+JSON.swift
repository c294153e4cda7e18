internal import CarabinerManifest
internal import CarabinerUpstreams
internal import CarabinerWire

extension Upstream {
  /// The upstream as `carabiner status` shows it.
  var json: JSONValue {
    let snapshot = snapshot
    let values = counters.values
    return [
      "name": .string(settings.name), "underWay": .count(snapshot.underWay), "waiting": .count(snapshot.waiting),
      "panic": .bool(snapshot.isPanicking), "breaker": .string(breakerWord(snapshot)),
      "endpoints": .array(
        snapshot.endpoints.map { endpoint in
          let entry = endpoints[endpoint.server.entry]
          return [
            "url": .string(entry.label), "address": endpoint.server.address.map { .string($0) } ?? .null,
            "weight": .count(entry.weight), "backup": .bool(entry.isBackup), "available": .bool(endpoint.isAvailable),
            "healthy": .bool(endpoint.isHealthy), "ejected": .bool(endpoint.isEjected), "underWay": .count(endpoint.underWay),
            "ejections": .count(values.ejections[entry.label] ?? 0),
          ]
        }),
    ]
  }

  private func breakerWord(_ snapshot: UpstreamSnapshot) -> String {
    settings.breaker == nil ? "none" : snapshot.isOpen ? "open" : "closed"
  }
}
