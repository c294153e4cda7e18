internal import CarabinerWire

/// The result of a transaction.
package struct EtcdTransaction: Sendable, Hashable {
  package let revision: Int64
  /// Whether all conditions held, so the changes were made.
  package let hasSucceeded: Bool
  /// The results of the reads. If a transaction did not succeed, these are the keys of its conditions.
  package let ranges: [EtcdRange]

  package init(_ json: [UInt8]) throws(EtcdError) {
    let reply = try EtcdReply.read(json)
    revision = try reply.object("header").number("revision")
    hasSucceeded = reply["succeeded"]?.bool ?? false
    var ranges: [EtcdRange] = []
    for response in try reply.list("responses") where response["response_range"] != nil {
      ranges.append(try EtcdRange(response.object("response_range")))
    }
    self.ranges = ranges
  }

  /// The keys that the reads found.
  package var found: [EtcdValue] { ranges.flatMap(\.values) }
}
