public import SwiftProtobuf

/// A message of a call.
public typealias ProtobufMessage = SwiftProtobuf.Message
