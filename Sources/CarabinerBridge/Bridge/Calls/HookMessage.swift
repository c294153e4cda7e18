package import Carabiner
package import CarabinerABI
package import FoundationEssentials

/// A message as the hooks of a step see it.
package protocol HookMessage {
  /// The headers of the request or of the response; nil if they have not arrived.
  func headers(of source: Contract.HeaderSource) -> HTTPHeaders?
  /// The content of one part of the request.
  func content(of part: Parts) -> MessageContent
  /// The URL of the response, or of the request before there is one; nil for a message that is not HTTP.
  var responseURL: URL? { get }
}

/// The content of one part of a message.
package enum MessageContent {
  case text(String)
  case bytes([UInt8])
  case data(Data)
  /// The message has the part, and it is absent.
  case absent
  /// The part is an upload and never completely in memory.
  case streamed
  /// A message of this kind does not have the part.
  case unknown
}
