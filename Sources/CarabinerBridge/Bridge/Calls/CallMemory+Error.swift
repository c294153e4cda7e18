internal import CCarabiner
internal import Carabiner

extension CallMemory {
  /// An error of the chain as a plugin sees it.
  mutating func view(of error: any Error) -> crb_error {
    var event = unsafe crb_error()
    unsafe event.size = unsafe UInt32(MemoryLayout<crb_error>.size)
    unsafe event.origin = unsafe view(of: "chain")
    switch error {
    case let error as PluginError:
      unsafe event.code = error.pluginCode
      unsafe event.flags = error.flags
      unsafe event.http_status = error.httpStatus
      unsafe event.retry_after_ns = error.retryAfter
      unsafe event.domain = unsafe view(of: error.domain.isEmpty ? "carabiner.plugin" : error.domain)
      unsafe event.message = unsafe view(of: error.message)
      unsafe event.origin = unsafe view(of: error.entry)
    case let error as ResponseCodeError:
      unsafe event.flags = UInt32(CRB_ERROR_HTTP_STATUS)
      unsafe event.http_status = Int32(clamping: error.response.statusCode)
      if error.response.statusCode == 429 || error.response.statusCode >= 500 {
        unsafe event.flags |= UInt32(CRB_ERROR_RETRYABLE)
      }
      if let seconds = error.response.headers["Retry-After"].flatMap(Double.init), seconds > 0, seconds < 1e9 {
        unsafe event.retry_after_ns = UInt64(seconds * 1e9)
      }
      unsafe event.domain = unsafe view(of: "carabiner.http")
      unsafe event.message = unsafe view(of: error.description)
    case let error as TransportError:
      unsafe event.flags = UInt32(CRB_ERROR_TRANSPORT)
      if error.code == .timedOut { unsafe event.flags |= UInt32(CRB_ERROR_TIMEOUT) }
      if !error.mayHaveBeenSent { unsafe event.flags |= UInt32(CRB_ERROR_RETRYABLE) }
      if error.code == .headTooLarge || error.code == .bodyTooLarge { unsafe event.flags |= UInt32(CRB_ERROR_LIMIT) }
      unsafe event.domain = unsafe view(of: "carabiner.transport")
      unsafe event.message = unsafe view(of: error.description)
    case let error as WebSocketError:
      unsafe event.flags = UInt32(CRB_ERROR_TRANSPORT)
      if [.connectTimeout, .acknowledgementTimeout, .keepAliveTimeout].contains(error.code) {
        unsafe event.flags |= UInt32(CRB_ERROR_TIMEOUT)
      }
      if !error.mayHaveBeenSent { unsafe event.flags |= UInt32(CRB_ERROR_RETRYABLE) }
      if [.messageTooLarge, .tooManyOperations].contains(error.code) { unsafe event.flags |= UInt32(CRB_ERROR_LIMIT) }
      if let status = error.statusCode {
        unsafe event.flags |= UInt32(CRB_ERROR_HTTP_STATUS)
        unsafe event.http_status = Int32(clamping: status)
      }
      unsafe event.domain = unsafe view(of: "carabiner.websocket")
      unsafe event.message = unsafe view(of: error.description)
    case let error as ResponseParsingError:
      unsafe event.flags = UInt32(CRB_ERROR_PARSE)
      unsafe event.domain = unsafe view(of: "carabiner.parsing")
      unsafe event.message = unsafe view(of: error.description)
    default:
      unsafe event.domain = unsafe view(of: "carabiner")
      unsafe event.message = unsafe view(of: "\(error)")
    }
    return unsafe event
  }
}
