internal import CarabinerWire

/// A key of etcd and its value.
package struct EtcdValue: Sendable, Hashable {
  /// The key. Bytes that are not UTF-8 are replaced.
  package let key: String
  package let value: [UInt8]
  /// The revision of the last change of this key.
  package let changed: Int64
  /// The revision that made this key.
  package let created: Int64
  /// The number of changes since it was made, with the first one.
  package let version: Int64
  /// The lease that the key ends with; 0 for none.
  package let lease: Int64

  package init(
    key: String, value: [UInt8], changed: Int64 = 0, created: Int64 = 0, version: Int64 = 0, lease: Int64 = 0
  ) {
    self.key = key
    self.value = value
    self.changed = changed
    self.created = created
    self.version = version
    self.lease = lease
  }

  /// Reads an element of `kvs`.
  init(_ json: JSONValue) throws(EtcdError) {
    key = String(decoding: try json.bytes("key"), as: UTF8.self)
    value = try json.bytes("value")
    changed = try json.number("mod_revision")
    created = try json.number("create_revision")
    version = try json.number("version")
    lease = try json.number("lease")
  }
}
