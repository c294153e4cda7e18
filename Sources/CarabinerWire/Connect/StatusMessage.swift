/// A serialised `google.rpc.Status`, as far as calls need it: its details.
package struct StatusMessage: Sendable, Hashable {
  /// The details, in order.
  package let details: [ConnectErrorBody.Detail]

  /// Reads a message; nil if it is malformed.
  package init?(parsing bytes: [UInt8]) {
    guard let fields = ProtobufFields(bytes[...]) else { return nil }
    var details: [ConnectErrorBody.Detail] = []
    for field in fields.bytes where field.number == 3 {
      guard let any = ProtobufFields(field.value) else { return nil }
      let type = any.bytes.last { $0.number == 1 }.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
      let value = any.bytes.last { $0.number == 2 }.map { Array($0.value) } ?? []
      details.append(.init(type: type, payload: value))
    }
    self.details = details
  }
}

/// The fields of a serialised message whose values are bytes.
private struct ProtobufFields {
  /// The fields, in order.
  var bytes: [(number: UInt64, value: ArraySlice<UInt8>)] = []

  /// Reads a message; nil if it is malformed, or if it has groups.
  init?(_ message: ArraySlice<UInt8>) {
    var rest = message
    while !rest.isEmpty {
      guard let tag = Self.integer(&rest), tag >> 3 != 0 else { return nil }
      switch tag & 7 {
      case 0: guard Self.integer(&rest) != nil else { return nil }
      case 1: guard Self.take(8, of: &rest) != nil else { return nil }
      case 2:
        guard let length = Self.integer(&rest), let value = Self.take(length, of: &rest) else { return nil }
        bytes.append((tag >> 3, value))
      case 5: guard Self.take(4, of: &rest) != nil else { return nil }
      default: return nil
      }
    }
  }

  /// A variable-length integer of at most ten bytes.
  private static func integer(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let byte = rest.popFirst() else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }

  private static func take(_ count: UInt64, of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard count <= UInt64(rest.count) else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }
}
