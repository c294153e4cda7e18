import SwiftProtobuf

/// The message of the sample's service.
public typealias Text = Google_Protobuf_StringValue
