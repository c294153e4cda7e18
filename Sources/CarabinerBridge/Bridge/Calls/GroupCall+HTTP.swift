internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials
internal import Synchronization

extension GroupCall {
  /// A response's head as a plugin sees it.
  func view(ofHead response: HTTPURLResponse, _ needs: Parts) -> crb_head {
    var head = unsafe crb_head()
    unsafe head.size = unsafe UInt32(MemoryLayout<crb_head>.size)
    unsafe head.status = UInt32(clamping: response.statusCode)
    unsafe head.attempt = attempt.load(ordering: .relaxed)
    unsafe head.http_version =
      switch response.httpVersion {
      case .http10: 10
      case .http11: 11
      case .http2: 20
      case .http3: 30
      case .unknown: 0
      }
    unsafe head.url = unsafe memory.view(of: response.url.absoluteString)
    if needs.contains(.headers) {
      unsafe head.headers = unsafe memory.headerArray(response.headers).map { unsafe UnsafePointer($0) }
      unsafe head.header_count = response.headers.count
    }
    return unsafe head
  }

  func view(ofChunk chunk: Data, sequence: UInt64) -> crb_chunk {
    var event = unsafe crb_chunk()
    unsafe event.size = unsafe UInt32(MemoryLayout<crb_chunk>.size)
    unsafe event.seq = sequence
    unsafe event.bytes = unsafe memory.view(of: chunk)
    return unsafe event
  }
}

extension crb_head {
  /// The same head without the headers if a stage did not ask for them (rule R11).
  func restricted(to needs: Parts) -> crb_head {
    var head = unsafe self
    if !needs.contains(.headers) {
      unsafe head.headers = nil
      unsafe head.header_count = 0
    }
    return unsafe head
  }
}
