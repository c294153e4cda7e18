internal import CCarabiner

/// The response to a plugin's own HTTP request.
public struct FetchResponse: Sendable {
  /// The status, 100 to 599.
  public let status: Int
  /// The header fields, in order.
  public let headers: [(name: String, value: String)]
  /// The whole body.
  public let body: [UInt8]
}

extension PluginHost {
  /// Sends an HTTP request over the host's connections. The manifest must grant `fetch`.
  ///
  /// - Parameters:
  ///   - method: Empty for GET, or POST if there is a body.
  ///   - timeout: Zero for the host's default.
  ///
  /// - Throws: ``PluginFailure`` if the service is not granted or the request fails; `CancellationError`.
  public func fetch(
    _ url: String, method: String = "", headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
    timeout: Duration = .zero
  ) async throws -> FetchResponse {
    guard let service = unsafe fetching else {
      throw PluginFailure("the manifest does not grant this plugin the service fetch; add grants: [fetch]")
    }
    let waiter = Waiter<FetchResponse>()
    let reply = unsafe Unmanaged.passRetained(FetchReply(waiter))
    let status = unsafe HeaderBlock(headers).with { fields in
      unsafe url.withView { url in
        unsafe method.withView { method in
          unsafe (body ?? []).withView { bytes in
            var request = unsafe crb_fetch_request()
            unsafe request.size = unsafe UInt32(MemoryLayout<crb_fetch_request>.size)
            unsafe request.timeout_ns = timeout.clampedNanoseconds
            unsafe request.url = unsafe url
            unsafe request.method = unsafe method
            unsafe request.headers = fields.baseAddress
            unsafe request.header_count = fields.count
            if body != nil { unsafe request.body = unsafe bytes }
            return unsafe service.pointee.start(identity, &request, FetchReply.done, reply.toOpaque())
          }
        }
      }
    }
    // done() is called if and only if the start succeeds.
    if status != crb_status(CRB_OK) { unsafe reply.release() }
    try PluginFailure.check(status, "the request; look at its URL and headers")
    return try await waiter.value
  }
}

/// Receives the host's callback.
private final class FetchReply: Sendable {
  private let waiter: Waiter<FetchResponse>

  init(_ waiter: Waiter<FetchResponse>) { self.waiter = waiter }

  static let done:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<crb_head>?, crb_view, UnsafePointer<crb_error>?) -> Void = {
      user, head, body, error in
      guard let user = unsafe user else { return }
      let waiter = unsafe Unmanaged<FetchReply>.fromOpaque(user).takeRetainedValue().waiter
      if let head = unsafe head {
        let event = unsafe Head(raw: head)
        waiter.finish(.success(FetchResponse(status: event.status, headers: event.headers, body: unsafe body.array)))
      } else {
        let message = unsafe error?.pointee.message.text ?? "the request failed"
        let flags = unsafe ErrorFlags(rawValue: error?.pointee.flags ?? 0)
        waiter.finish(.failure(PluginFailure(message, code: unsafe error?.pointee.code ?? 0, flags: flags)))
      }
    }
}
