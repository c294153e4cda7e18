internal import CarabinerWire

/// The payload of `connection_init` as text.
enum InitialPayload {
  static func text(of payload: JSONObject) -> [UInt8] { JSONValue.object(payload).serialized() }
}
