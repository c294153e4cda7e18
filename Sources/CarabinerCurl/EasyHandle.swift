internal import CCurl
internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import Glibc

/// One of libcurl's easy handles, with the options that never change already set. Belongs to the loop's thread.
@safe final class EasyHandle: @unchecked Sendable {
  // Handed from the pool to one transfer at a time, all on the loop's thread.

  let handle: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private var headerList: UnsafeMutablePointer<curl_slist>?
  /// Whether sockets are opened by the loop's poll.
  private var opensSockets = false
  private var lastHeaders: HTTPHeaders?
  private var lastURL = ""
  /// What is left of a body that libcurl can have only once.
  private var upload = Data()
  /// What is left of a body that is read while it is sent.
  private var reader: BodyReader?

  init(_ configuration: CurlTransport.Configuration) throws {
    guard let easy = unsafe curl_easy_init() else {
      throw TransportError(.other, "libcurl has no memory for another transfer; check the memory limit of the process", url: "")
    }
    unsafe handle = easy
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setConstants(configuration)
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe curl_slist_free_all(headerList)
    unsafe errorText.deallocate()
  }

  private func setConstants(_ configuration: CurlTransport.Configuration) {
    _ = unsafe CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, errorText)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_USERAGENT, configuration.userAgent)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(configuration.connectTimeout))
    set(CURLOPT_HTTP_VERSION, Int(configuration.allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    if configuration.acceptsCompression { set(CURLOPT_ACCEPT_ENCODING, "") }
    if let file = configuration.certificateAuthorityFile { set(CURLOPT_CAINFO, file) }
    if let file = configuration.clientCertificateFile { set(CURLOPT_SSLCERT, file) }
    if let file = configuration.clientKeyFile { set(CURLOPT_SSLKEY, file) }
    if let path = configuration.unixSocket { set(CURLOPT_UNIX_SOCKET_PATH, path) }
    switch configuration.proxy {
    case .environment: break
    case .none: set(CURLOPT_PROXY, "")
    case .url(let url): set(CURLOPT_PROXY, url)
    }
    _ = unsafe CCurl_setWriteFunction(
      handle,
      { bytes, size, count, context in
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        return unsafe Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
          unsafe $0.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
      }, nil)
    _ = unsafe CCurl_setHeaderFunction(
      handle,
      { bytes, size, count, context in
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        return unsafe Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
          unsafe $0.receiveHeadLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
      }, nil)
    _ = unsafe CCurl_setReadFunction(
      handle,
      { bytes, size, count, context in
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let easy = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
        return unsafe easy.takeUpload(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Sets the transfer that the callbacks call.
  func setContext(_ context: UnsafeMutableRawPointer?) {
    _ = unsafe CCurl_setPointer(handle, CURLOPT_PRIVATE, context)
    _ = unsafe CCurl_setPointer(handle, CURLOPT_WRITEDATA, context)
    _ = unsafe CCurl_setPointer(handle, CURLOPT_HEADERDATA, context)
  }

  /// Has sockets opened and closed by `poll`, which outlives every connection of the multi handle.
  func openSockets(with poll: Poll) {
    guard !opensSockets else { return }
    opensSockets = true
    unsafe CCurl_setSocketFunctions(
      handle,
      { context, _, address in
        guard let context = unsafe context, let address = unsafe address?.pointee else { return -1 }
        return unsafe Unmanaged<Poll>.fromOpaque(context)._withUnsafeGuaranteedRef {
          $0.openConnection(family: address.family, type: address.socktype, protocol: address.protocol)
        }
      },
      { context, socket in
        guard let context = unsafe context else { return -1 }
        return unsafe Unmanaged<Poll>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.closeConnection(socket) }
      }, Unmanaged.passUnretained(poll).toOpaque())
  }

  // MARK: One request

  /// Sets what differs from request to request.
  ///
  /// - Parameter timeout: The limit for the exchange in seconds; infinite for no limit.
  func prepare(_ request: URLRequest, timeout: Double) throws {
    unsafe errorText[0] = 0
    let url = request.url.absoluteString
    if url != lastURL {
      set(CURLOPT_URL, url)
      // Whether a connection can carry several requests is known after the TLS handshake. Without TLS it never can, but libcurl
      // would wait for the head of the first response to find out, and so would every other request to that host.
      set(CURLOPT_PIPEWAIT, url.utf8.starts(with: "http:".utf8) ? 0 : 1)
      lastURL = url
    }
    set(CURLOPT_TIMEOUT_MS, timeout.isFinite ? Self.milliseconds(timeout) : 0)
    try setHeaders(request)
    let body = request.body
    // libcurl sends a request again if a kept connection ends before an answer, unless it cannot have its body again. One that
    // has no body must not meet a kept connection.
    set(CURLOPT_FRESH_CONNECT, !request.isIdempotent && (body?.length ?? 0) == 0 ? 1 : 0)
    switch request.httpMethod {
    case "POST":
      try setBody(body ?? .data(Data()), isIdempotent: request.isIdempotent)
    case "GET" where body == nil:
      set(CURLOPT_HTTPGET, 1)
    case "HEAD" where body == nil:
      set(CURLOPT_NOBODY, 1)
    default:
      if let body { try setBody(body, isIdempotent: request.isIdempotent) } else { set(CURLOPT_HTTPGET, 1) }
      set(CURLOPT_CUSTOMREQUEST, request.httpMethod)
    }
  }

  /// Whether the next request may use this handle: one with an unusual method has options that would stay behind.
  func isReusable(after request: URLRequest) -> Bool {
    request.httpMethod == "POST" || (request.httpMethod == "GET" && request.body == nil)
  }

  private func setBody(_ body: HTTPBody, isIdempotent: Bool) throws {
    switch body {
    case .data(let data): setBody(data, isIdempotent: isIdempotent)
    case .segmented(let segments) where segments.length == 0: setBody(Data(), isIdempotent: isIdempotent)
    case .segmented(let segments):
      reader = try BodyReader(segments, url: lastURL)
      set(CURLOPT_POST, 1)
      readBody(length: segments.length)
    }
  }

  /// Lets libcurl ask for the body: it can have it only once.
  private func readBody(length: Int) {
    _ = unsafe CCurl_setPointer(handle, CURLOPT_COPYPOSTFIELDS, nil)
    _ = unsafe CCurl_setOffset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(length))
  }

  private func setBody(_ body: Data, isIdempotent: Bool) {
    set(CURLOPT_POST, 1)
    guard isIdempotent || body.isEmpty else {
      readBody(length: body.count)
      upload = body
      return
    }
    upload = Data()
    _ = unsafe CCurl_setOffset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
    guard !body.isEmpty else { return set(CURLOPT_COPYPOSTFIELDS, "") }
    _ = unsafe body.withUnsafeBytes { unsafe CCurl_setPointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
  }

  /// Gives libcurl the next bytes of a body it can have only once.
  private func takeUpload(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    if let reader { return unsafe reader.read(into: buffer) }
    let count = min(buffer.count, upload.count)
    _ = unsafe upload.prefix(count).copyBytes(to: buffer)
    upload = upload.dropFirst(count)
    return count
  }

  private func setHeaders(_ request: URLRequest) throws {
    guard request.headers != lastHeaders else { return }
    var list = unsafe curl_slist_append(nil, "Expect:")
    // Else libcurl calls a body a form.
    if request.headers["Content-Type"] == nil { unsafe list = curl_slist_append(list, "Content-Type:") }
    for field in request.headers.fields {
      guard field.isWellFormed else {
        unsafe curl_slist_free_all(list)
        throw TransportError(
          .invalidHeader,
          "the header \(field.name.debugDescription) has a name that is not a token or a value with control characters; look at the "
            + "interceptor that sets it",
          url: request.url.absoluteString)
      }
      // The length is libcurl's to say: one that an interceptor's change left behind would shift every later request.
      if ["content-length", "transfer-encoding"].contains(field.name.lowercased()) { continue }
      // libcurl reads "Name:" as "leave that header out".
      unsafe list = curl_slist_append(list, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    _ = unsafe CCurl_setPointer(handle, CURLOPT_HTTPHEADER, list)
    unsafe curl_slist_free_all(headerList)
    unsafe headerList = list
    lastHeaders = request.headers
  }

  /// Closes the file that is being sent, and forgets the rest of the body.
  func dropBody() {
    reader = nil
    upload = Data()
  }

  // MARK: What came of it

  /// Why the body could not be read to its end; nil if it could.
  var bodyFailure: TransportError? { reader?.failure }

  /// Whether the request went over a connection that had served another before.
  var usedKeptConnection: Bool { unsafe CCurl_getLong(handle, CURLINFO_NUM_CONNECTS) == 0 && bytesSent > 0 }

  var bytesSent: Int { unsafe CCurl_getLong(handle, CURLINFO_REQUEST_SIZE) }

  var httpVersion: HTTPURLResponse.Version {
    switch Int32(unsafe CCurl_getLong(handle, CURLINFO_HTTP_VERSION)) {
    case Int32(CURL_HTTP_VERSION_1_0): .http10
    case Int32(CURL_HTTP_VERSION_1_1): .http11
    case Int32(CURL_HTTP_VERSION_2_0): .http2
    case Int32(CURL_HTTP_VERSION_3): .http3
    default: .unknown
    }
  }

  /// What libcurl says about the last failure; empty if nothing.
  var errorDetail: String { unsafe String(cString: errorText) }

  /// How OpenSSL's verification of the certificate ended.
  var verificationResult: Int { unsafe CCurl_getLong(handle, CURLINFO_SSL_VERIFYRESULT) }

  func resumeReceiving() -> CURLcode { unsafe curl_easy_pause(handle, CURLPAUSE_CONT) }

  /// libcurl's form of a time limit: never 0, which means none; and a millisecond more, for its own count of the time that has
  /// passed may be ahead by one, and nothing may be given up before its time.
  private static func milliseconds(_ seconds: Double) -> Int { Int((min(max(seconds, 0), 1e6) * 1000).rounded(.up)) + 1 }

  private func set(_ option: CURLoption, _ value: Int) { _ = unsafe CCurl_setLong(handle, option, value) }
  private func set(_ option: CURLoption, _ value: String) { _ = unsafe CCurl_setPointer(handle, option, value) }
}
