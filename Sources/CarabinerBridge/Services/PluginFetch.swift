package import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// Requests that plugins send themselves, outside the chain: `crb.fetch/1`.
package enum PluginFetch {
  package typealias Done =
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<crb_head>?, crb_view, UnsafePointer<crb_error>?) -> Void

  /// The timeout in seconds if the plugin sets none.
  static let defaultTimeout = 10.0
  /// The longest one.
  static let maximumTimeout = 600.0
  /// How many headers a plugin's request may have.
  package static let maximumHeaders = 256

  /// The body of a response is longer than the instance may hold.
  private struct OversizedBody: Error, CustomStringConvertible {
    var description: String {
      "the response is dropped: the requests of the plugin may hold \(CRB_FETCH_MAX_BYTES) bytes together; ask for less"
    }
  }

  /// - Parameter account: The requests of the instance in its worker; nil for a plugin of this process.
  package static func start(
    _ who: crb_self, _ request: UnsafePointer<crb_fetch_request>?, _ done: Done?, _ user: UnsafeMutableRawPointer?,
    account: FetchAccount? = nil
  ) -> crb_status {
    guard let member = PluginRegistry.shared.caller(who), member.grants.contains("fetch"),
      let transport = member.environment?.transport
    else { return Status.unsupported }
    guard let request = unsafe request, let done = unsafe done else { return Status.invalid }
    let (fetches, asked) = unsafe (account ?? member.fetches, InterceptorTable.copy(request, crb_fetch_request()))
    let bytes = unsafe size(of: asked)
    guard fetches.hasRoom(for: bytes) else { return Status.limit }
    guard let copy = unsafe urlRequest(asked) else { return Status.invalid }
    let context = unsafe CallbackContext(user)
    let subject = CrashSubject.current
    let isStarted = fetches.start(holding: bytes) { number in
      do {
        let response = try await transport.send(copy)
        let body = try await response.chunks.collected { fetches.hold($0, for: number) }
        guard let body else { throw OversizedBody() }
        // Before the callback, which may start the next request.
        fetches.end(number)
        subject.during(.callback) { unsafe report(response.response, body, done, context) }
      } catch {
        fetches.end(number)
        subject.during(.callback) { unsafe report(error, done, context) }
      }
    }
    return isStarted ? Status.ok : Status.limit
  }

  /// The bytes of the texts of a request; a negative number if the sum overflows.
  private static func size(of request: crb_fetch_request) -> Int {
    var size = unsafe request.url.bytes.count &+ request.method.bytes.count &+ request.body.bytes.count
    guard unsafe request.headers != nil, unsafe (0...maximumHeaders).contains(request.header_count) else { return size }
    let fields = unsafe UnsafeBufferPointer(start: request.headers, count: request.header_count)
    for index in fields.indices { size &+= unsafe fields[index].name.bytes.count &+ fields[index].value.bytes.count }
    return size
  }

  private static func urlRequest(_ request: crb_fetch_request) -> URLRequest? {
    guard let url = unsafe URL(string: request.url.text), ["http", "https"].contains(url.scheme?.lowercased()),
      unsafe (0...maximumHeaders).contains(request.header_count), unsafe request.headers != nil || request.header_count == 0
    else { return nil }
    var headers = HTTPHeaders()
    let fields = unsafe UnsafeBufferPointer(start: request.headers, count: request.header_count)
    for index in fields.indices {
      let header = unsafe fields[index]
      guard unsafe header.name.isHeaderName, unsafe header.value.isHeaderValue else { return nil }
      unsafe headers.add(name: header.name.text, value: header.value.text)
    }
    let body = unsafe request.body.isAbsent ? nil : Data(request.body.bytes)
    let method = unsafe request.method.len == 0 ? (body == nil ? "GET" : "POST") : request.method.text
    guard RequestLine.isMethod(method.utf8) else { return nil }
    return unsafe URLRequest(
      url: url, httpMethod: method, headers: headers, httpBody: body,
      timeoutInterval: request.timeout_ns == 0 ? defaultTimeout : min(Double(request.timeout_ns) / 1e9, maximumTimeout))
  }

  private static func report(_ response: HTTPURLResponse, _ body: Data, _ done: Done, _ context: CallbackContext) {
    var views = Arena()
    defer { views.deallocate() }
    var head = unsafe crb_head()
    unsafe head.size = unsafe UInt32(MemoryLayout<crb_head>.size)
    unsafe head.status = UInt32(clamping: response.statusCode)
    unsafe head.url = unsafe views.copy(response.url.absoluteString, limit: .max) ?? .absent
    // Plugins read UTF-8 (rule R2).
    let received = response.headers.repaired
    let copy = unsafe received.bytes.withUnsafeBytes { bytes in
      unsafe views.copy(UnsafeRawBufferPointer(rebasing: bytes[..<received.byteCount]), limit: .max)
    }
    let headers =
      unsafe copy?.ptr.map { copy in
        unsafe received.indices.map { unsafe received.view(at: $0, in: copy) }
      } ?? []
    unsafe headers.withUnsafeBufferPointer { headers in
      unsafe head.headers = headers.baseAddress
      unsafe head.header_count = headers.count
      unsafe body.withUnsafeBytes { bytes in
        unsafe done(
          context.pointer, &head,
          crb_view(ptr: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), len: bytes.count), nil)
      }
    }
  }

  private static func report(_ error: any Error, _ done: Done, _ context: CallbackContext) {
    var views = Arena()
    defer { views.deallocate() }
    var event = unsafe crb_error()
    unsafe event.size = unsafe UInt32(MemoryLayout<crb_error>.size)
    unsafe event.flags = UInt32(CRB_ERROR_TRANSPORT)
    if error is OversizedBody { unsafe event.flags |= UInt32(CRB_ERROR_LIMIT) }
    if error is CancellationError { unsafe event.flags |= UInt32(CRB_ERROR_CANCELLED) }
    unsafe event.message = unsafe views.copy("\(error)", limit: .max) ?? (unsafe .absent)
    unsafe event.domain = unsafe views.copy("carabiner.transport", limit: .max) ?? .absent
    unsafe done(context.pointer, nil, .absent, &event)
  }
}
