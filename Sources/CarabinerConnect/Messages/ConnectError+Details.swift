public import CarabinerCalls
internal import FoundationEssentials
public import SwiftProtobuf

extension ConnectError {
  /// Returns the details that are messages of a type. Details of other types, and malformed ones, are left out.
  public func unpackedDetails<Output: SwiftProtobuf.Message>() -> [Output] {
    details.compactMap { detail in
      guard let payload = detail.payload, detail.typeName == Output.protoMessageName else { return nil }
      return try? Output(serializedBytes: payload)
    }
  }
}

extension ConnectError.Detail {
  /// The name of the type without a prefix.
  fileprivate var typeName: Substring { type[(type.lastIndex(of: "/").map(type.index(after:)) ?? type.startIndex)...] }
}
