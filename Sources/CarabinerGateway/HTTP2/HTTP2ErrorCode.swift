/// The error codes that the gateway sends (RFC 9113, 7).
enum HTTP2ErrorCode: UInt32 {
  case noError = 0
  case protocolError = 1
  case internalError = 2
  case streamClosed = 5
  case cancel = 8
  case enhanceYourCalm = 11
}
