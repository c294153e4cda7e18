internal import CarabinerWire

/// A line of a watch.
package struct EtcdWatchLine: Sendable, Hashable {
  /// A change of a key.
  package enum Event: Sendable, Hashable {
    case put(EtcdValue)
    case delete(String)
  }

  package let revision: Int64
  package let events: [Event]
  /// Whether the watch of some keys has begun.
  package let isCreated: Bool
  /// Whether the watch has ended. etcd leaves the stream open.
  package let isCanceled: Bool
  /// The oldest revision that can be watched, if the watch began too early; else 0.
  package let oldestRevision: Int64
  /// Why the watch has ended.
  package let reason: String

  package init(_ json: [UInt8]) throws(EtcdError) {
    let reply = try EtcdReply.read(json)
    guard reply["result"] != nil else { throw EtcdError(.malformed, "a line of a watch of etcd has no result") }
    let result = try reply.object("result")
    revision = try result.object("header").number("revision")
    var events: [Event] = []
    for event in try result.list("events") {
      let value = try EtcdValue(event.object("kv"))
      // A put has no type, because its number is 0.
      events.append(event["type"]?.string == "DELETE" ? .delete(value.key) : .put(value))
    }
    self.events = events
    isCreated = result["created"]?.bool ?? false
    isCanceled = result["canceled"]?.bool ?? false
    oldestRevision = try result.number("compact_revision")
    reason = EtcdReply.printable(result["cancel_reason"]?.string ?? "")
  }

  /// The error that ends this watch; nil if it goes on.
  package var failure: EtcdError? {
    guard isCanceled else { return nil }
    if oldestRevision > 0 {
      return EtcdError(
        .compacted, "etcd has removed the history before revision \(oldestRevision); the keys are read again")
    }
    if reason.contains("permission denied") {
      return EtcdError(.denied, "etcd denies the watch: \(reason); grant the user's role to read all keys under the prefix")
    }
    if reason.contains("token") || reason.contains("auth") {
      return EtcdError(.unauthenticated, "etcd ends the watch: \(reason)")
    }
    return EtcdError(.unavailable, "etcd ends the watch: \(reason.isEmpty ? "without a reason" : reason); it is begun again")
  }
}
