internal import CarabinerWire

extension ManifestReader {
  mutating func shared(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Shared? {
    guard let object = object(json, pointer, knowing: Self.redisServerKeys + ["prefix", "sync", "budget"]) else { return nil }
    var shared = Manifest.Shared()
    shared.servers = redisServers(object, pointer)
    if let prefix = object["prefix"] { shared.prefix = redisPrefix(prefix, pointer.appending("prefix")) }
    if let sync = object["sync"] {
      shared.sync = duration(sync, pointer.appending("sync"), in: Manifest.Shared.syncs, "10ms to 10s") ?? shared.sync
    }
    if let budget = object["budget"] {
      let place = pointer.appending("budget")
      shared.budget = duration(budget, place, in: Manifest.Shared.budgets, "1ms to 10s") ?? shared.budget
    }
    return shared
  }

  mutating func idempotency(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Idempotency? {
    guard let object = object(json, pointer, knowing: ["header", "keep", "body", "on-unavailable"]) else { return nil }
    var idempotency = Manifest.Idempotency()
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "header":
        guard let name = text(value, place), HeaderText.isName(name) else {
          problem(.invalidValue, place, "\(value) is not a header name; write one, such as idempotency-key")
          continue
        }
        idempotency.header = name
      case "keep":
        let range = Manifest.Idempotency.minimumKeep...Manifest.Idempotency.maximumKeep
        idempotency.keep = duration(value, place, in: range, "5m to 720h") ?? idempotency.keep
      case "body": idempotency.bodyBytes = keptBytes(value, place) ?? idempotency.bodyBytes
      case "on-unavailable":
        guard let unavailable = value.string.flatMap(Manifest.Idempotency.Unavailable.init) else {
          problem(.invalidValue, place, "\(value) is neither refuse nor run; write one of them")
          continue
        }
        idempotency.unavailable = unavailable
      default: break
      }
    }
    return idempotency
  }

  /// Reports `idempotency` without `shared`, because keys are stored in the shared state.
  mutating func refuseIdempotencyAlone(_ pointer: JSONPointer) {
    guard manifest.serve.idempotency != nil, manifest.serve.shared == nil else { return }
    problem(
      .invalidValue, pointer.appending("idempotency"),
      "idempotency needs servers for the keys; write shared: {urls: [\"redis://HOST:PORT\"]} beside it")
  }

  private mutating func keptBytes(_ json: JSONValue, _ pointer: JSONPointer) -> Int? {
    guard let bytes = bytes(json, pointer) else { return nil }
    guard bytes <= Manifest.Idempotency.maximumBodyBytes else {
      problem(.invalidValue, pointer, "answers of up to 16MiB can be kept; write a smaller size, such as 1MiB")
      return nil
    }
    return bytes
  }

  private mutating func duration(
    _ json: JSONValue, _ pointer: JSONPointer, in range: ClosedRange<Duration>, _ text: String
  ) -> Duration? {
    guard let duration = duration(json, pointer) else { return nil }
    guard range.contains(duration) else {
      problem(.invalidValue, pointer, "\(json) is outside of \(text); write a duration between them")
      return nil
    }
    return duration
  }
}
