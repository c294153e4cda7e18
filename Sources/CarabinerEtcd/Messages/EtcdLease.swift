internal import CarabinerWire

/// A lease, or its renewal.
package struct EtcdLease: Sendable, Hashable {
  package let id: Int64
  /// The time to live in seconds; 0 if the lease is gone.
  package let seconds: Int64

  package init(_ json: [UInt8]) throws(EtcdError) {
    let reply = try EtcdReply.read(json)
    // A renewal is the first message of a stream.
    let lease = try reply["result"] == nil ? reply : reply.object("result")
    id = try lease.number("ID")
    seconds = try lease.number("TTL")
  }
}
