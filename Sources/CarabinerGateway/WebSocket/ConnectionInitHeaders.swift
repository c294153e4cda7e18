internal import Carabiner
internal import CarabinerWire

/// The header fields under `headers` in the payload of `connection_init`.
///
/// Pages in a browser cannot add fields to a handshake, so their clients send them here. A proxy in front of the gateway checks
/// only the handshake. So a field is used only if the operator allows its name and the handshake does not contain it.
struct ConnectionInitHeaders: Sendable {
  /// The fields are invalid. The reason is sent to the client.
  struct Fault: Error, Hashable {
    let reason: String
  }

  private static let member = "headers"

  private let fields: [(name: String, value: String)]

  /// Parses the payload of `connection_init`.
  ///
  /// - Throws: ``Fault`` if there are more fields than a head may have, or one of them is malformed.
  init(_ payload: [UInt8]?, limits: GatewayLimits) throws(Fault) {
    // Members are located without building a tree, so a payload above the limit costs only one pass.
    guard let payload, let place = (try? JSONMembers(locating: payload.span))?.range(of: Self.member),
      let members = try? JSONMembers(locating: payload.span.extracting(place)), members.isObject
    else {
      fields = []
      return
    }
    let names = members.names
    guard names.count <= limits.maximumHeadFields else {
      throw Fault(reason: "\(Self.member) has more than \(limits.maximumHeadFields) fields")
    }
    var fields: [(name: String, value: String)] = []
    fields.reserveCapacity(names.count)
    for name in names {
      guard let range = members.range(of: name),
        let value = try? JSONValue(parsing: Array(payload[place][relative: range])).string,
        HTTPHeaders.Field(name: name, value: value).isWellFormed
      else { throw Fault(reason: "\(Self.member).\(name) is not a string that a header field may have") }
      fields.append((name, value))
    }
    self.fields = fields
  }

  /// Adds the allowed fields that the handshake does not contain.
  ///
  /// - Throws: ``Fault`` if the result is larger than a head may be.
  func added(
    to handshake: HTTPHeaders, allowed: HeaderSelection, limits: GatewayLimits
  ) throws(Fault) -> HTTPHeaders {
    var headers = handshake
    for (name, value) in fields where allowed.passes(name) && !headers.contains(name: name) {
      headers.add(name: name, value: value)
    }
    guard headers.count == handshake.count || headers.areWithin(limits) else {
      throw Fault(
        reason: "the handshake and \(Self.member) have more than \(limits.maximumHeadFields) fields or "
          + "\(limits.maximumHeadBytes) bytes together")
    }
    return headers
  }
}

extension ArraySlice {
  /// The elements at offsets from the start of the slice.
  fileprivate subscript(relative range: Range<Int>) -> ArraySlice {
    self[startIndex + range.lowerBound..<startIndex + range.upperBound]
  }
}

extension HTTPHeaders {
  fileprivate func areWithin(_ limits: GatewayLimits) -> Bool {
    count <= limits.maximumHeadFields
      && byteCount <= limits.maximumHeadBytes
  }
}
