internal import CarabinerWire

/// The keys that a read found.
package struct EtcdRange: Sendable, Hashable {
  /// The revision of the store at that moment.
  package let revision: Int64
  package let values: [EtcdValue]
  /// Whether there are more keys than the limit of the request.
  package let hasMore: Bool

  package init(_ json: [UInt8]) throws(EtcdError) { try self.init(EtcdReply.read(json)) }

  init(_ json: JSONValue) throws(EtcdError) {
    revision = try json.object("header").number("revision")
    var values: [EtcdValue] = []
    for value in try json.list("kvs") { values.append(try EtcdValue(value)) }
    self.values = values
    hasMore = json["more"]?.bool ?? false
  }
}
