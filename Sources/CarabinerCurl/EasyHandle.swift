internal import CCurl
internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import Glibc

/// A libcurl easy handle with the constant options already set. Used only on the event loop's thread.
@safe final class EasyHandle: @unchecked Sendable {
  // The pool passes it to one transfer at a time, always on the loop's thread.

  let handle: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var serverList: UnsafeMutablePointer<curl_slist>?
  private var lastServer: String?
  /// Whether the loop's poll opens the sockets.
  private var opensSockets = false
  private var lastHeaders: HTTPHeaders?
  private var lastURL = ""
  /// Whether responses are decompressed if the request leaves it to the transport.
  private let acceptsCompression: Bool
  /// Whether libcurl asks for compressed responses and decompresses them.
  private var decodesContent = false
  /// The remaining bytes of a body that libcurl reads through a callback.
  private var upload = Data()
  /// The whole body, for a server that has not processed it.
  private var wholeUpload = Data()
  /// Whether requests may use HTTP/2.
  private let allowsHTTP2: Bool
  /// Whether libcurl's messages are read.
  private var readsMessages = false
  /// The messages about the stream of the request. They are read only if the request may not be sent twice.
  private(set) var messages = StreamMessages()
  /// The reader of a body that is read while it is sent.
  private var reader: BodyReader?
  /// The chunks of a body that is a stream.
  private(set) var feed: BodyFeed?

  init(_ configuration: CurlTransport.Configuration) throws {
    guard let easy = unsafe curl_easy_init() else {
      throw TransportError(.other, "libcurl has no memory for another transfer; check the memory limit of the process", url: "")
    }
    unsafe handle = easy
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    acceptsCompression = configuration.acceptsCompression
    allowsHTTP2 = configuration.allowsHTTP2
    setConstants(configuration)
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe curl_slist_free_all(headerList)
    unsafe curl_slist_free_all(serverList)
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
    _ = unsafe CCurl_setSeekFunction(
      handle,
      { context, _, _ in
        guard let context = unsafe context else { return CURL_SEEKFUNC_FAIL }
        let easy = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
        return easy.rewindUpload() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Sets the transfer that the callbacks call.
  func setContext(_ context: UnsafeMutableRawPointer?) {
    _ = unsafe CCurl_setPointer(handle, CURLOPT_PRIVATE, context)
    _ = unsafe CCurl_setPointer(handle, CURLOPT_WRITEDATA, context)
    _ = unsafe CCurl_setPointer(handle, CURLOPT_HEADERDATA, context)
  }

  /// Makes `poll` open and close sockets. It outlives every connection of the multi handle.
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

  // MARK: A connection without a request

  /// Sets the options for opening a connection that this handle keeps for itself.
  ///
  /// - Parameters:
  ///   - origin: A URL with the scheme, host and port.
  ///   - server: The IP address of the server; nil to look up the host name.
  func prepareConnection(to origin: String, at server: String?) {
    set(CURLOPT_URL, origin)
    setServer(server)
    set(CURLOPT_CONNECT_ONLY, 1)
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
  }

  /// Forgets libcurl's message for the last failure.
  func clearError() { unsafe errorText[0] = 0 }

  // MARK: One request

  /// Sets the options of a request.
  ///
  /// - Parameters:
  ///   - server: The IP address of the server; nil to look up the host name.
  ///   - timeout: The timeout for the exchange in seconds; infinite for no timeout.
  ///   - feed: The chunks of the body if it is a stream.
  func prepare(_ request: URLRequest, at server: String?, timeout: Double, feed: BodyFeed?) throws {
    clearError()
    setServer(server)
    readMessages(!request.isIdempotent && allowsHTTP2)
    let url = request.url.absoluteString
    if url != lastURL {
      set(CURLOPT_URL, url)
      // Whether a connection can carry several requests is known after the TLS handshake. Without TLS it never can, but libcurl
      // would wait for the head of the first response to find out, and so would every other request to that host.
      set(CURLOPT_PIPEWAIT, url.utf8.starts(with: "http:".utf8) ? 0 : 1)
      lastURL = url
    }
    set(CURLOPT_TIMEOUT_MS, timeout.isFinite ? Self.milliseconds(timeout) : 0)
    setDecoding(acceptsCompression && request.decodesContent)
    try setHeaders(request)
    let body = request.body
    // libcurl repeats a request if a kept connection closes before the response, unless it cannot read the body again. A request
    // without a body that is not idempotent must therefore use a new connection.
    set(CURLOPT_FRESH_CONNECT, !request.isIdempotent && (body == nil || body?.length == 0) ? 1 : 0)
    if let feed { setFeed(feed) }
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

  /// Makes libcurl say which streams the server did not process.
  ///
  /// libcurl repeats a request over a new connection for two reasons: a kept connection ended, or the server refused the stream. With this
  /// request of RTSP it repeats for the second reason only, and has a message for it.
  private func readMessages(_ reads: Bool) {
    messages = StreamMessages()
    guard reads != readsMessages else { return }
    readsMessages = reads
    set(CURLOPT_VERBOSE, reads ? 1 : 0)
    set(CURLOPT_RTSP_REQUEST, reads ? Int(CURL_RTSPREQ_RECEIVE) : Int(CURL_RTSPREQ_OPTIONS))
    // With a function, libcurl describes each TLS record of a connection that was opened with messages.
    guard reads else {
      _ = unsafe CCurl_setDebugFunction(handle, nil, nil)
      return
    }
    _ = unsafe CCurl_setDebugFunction(
      handle,
      { _, type, bytes, count, context in
        guard type == CURLINFO_TEXT, let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let easy = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
        unsafe easy.messages.read(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Makes libcurl connect to an address, with the Host header and the TLS name of the URL.
  private func setServer(_ server: String?) {
    guard server != lastServer else { return }
    var list: UnsafeMutablePointer<curl_slist>?
    if let server { unsafe list = curl_slist_append(nil, server.contains(":") ? "::[\(server)]:" : "::\(server):") }
    _ = unsafe CCurl_setPointer(handle, CURLOPT_CONNECT_TO, list)
    unsafe curl_slist_free_all(serverList)
    unsafe serverList = list
    lastServer = server
  }

  /// Whether the next request may use this handle. An unusual method leaves options behind.
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
    case .streamed:
      set(CURLOPT_POST, 1)
      readBody(length: Self.unknownLength)
    }
  }

  /// libcurl's length of a body that it sends in chunks.
  private static let unknownLength = -1

  private func setFeed(_ feed: BodyFeed) {
    self.feed = feed
    unsafe CCurl_setBeginFunction(
      handle,
      { context, _, _, _, _ in
        guard let context = unsafe context else { return CURL_PREREQFUNC_ABORT }
        let easy = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
        return easy.feed?.mayBegin() == false ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Makes libcurl read the body through a callback, so that it can read it only once.
  private func readBody(length: Int) {
    _ = unsafe CCurl_setPointer(handle, CURLOPT_COPYPOSTFIELDS, nil)
    _ = unsafe CCurl_setOffset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(length))
  }

  private func setBody(_ body: Data, isIdempotent: Bool) {
    set(CURLOPT_POST, 1)
    guard isIdempotent || body.isEmpty else {
      readBody(length: body.count)
      (upload, wholeUpload) = (body, body)
      return
    }
    (upload, wholeUpload) = (Data(), Data())
    _ = unsafe CCurl_setOffset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
    guard !body.isEmpty else { return set(CURLOPT_COPYPOSTFIELDS, "") }
    _ = unsafe body.withUnsafeBytes { unsafe CCurl_setPointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
  }

  /// Copies the next bytes of the body to libcurl's buffer.
  private func takeUpload(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    if let reader { return unsafe reader.read(into: buffer) }
    if let feed { return unsafe feed.read(into: buffer) }
    let count = min(buffer.count, upload.count)
    _ = unsafe upload.prefix(count).copyBytes(to: buffer)
    upload = upload.dropFirst(count)
    return count
  }

  /// Begins again with the body, if the server did not process the request. Returns false if it must not be sent again.
  private func rewindUpload() -> Bool {
    guard messages.isRefused, !wholeUpload.isEmpty else { return false }
    upload = wholeUpload
    return true
  }

  private func setDecoding(_ decodes: Bool) {
    guard decodes != decodesContent else { return }
    decodesContent = decodes
    // The empty text means every compression that libcurl knows, and no text means that it leaves bodies as they are.
    if decodes { set(CURLOPT_ACCEPT_ENCODING, "") } else { _ = unsafe CCurl_setPointer(handle, CURLOPT_ACCEPT_ENCODING, nil) }
  }

  private func setHeaders(_ request: URLRequest) throws {
    guard request.headers != lastHeaders else { return }
    var list = unsafe curl_slist_append(nil, "Expect:")
    // Otherwise libcurl labels the body as a form.
    if request.headers["Content-Type"] == nil { unsafe list = curl_slist_append(list, "Content-Type:") }
    for (index, field) in request.headers.enumerated() {
      guard field.isWellFormed else {
        unsafe curl_slist_free_all(list)
        throw TransportError.invalidHeader(field, of: request)
      }
      // libcurl sets the length. A stale length after an interceptor's change would corrupt later requests.
      if ["content-length", "transfer-encoding"].contains(field.name.lowercased()) { continue }
      // libcurl interprets "Name:" as the removal of that header.
      var line = Array("\(field.name)\(field.value.isEmpty ? ";" : ": ")".utf8)
      // The bytes and not the text, in which those that are not UTF-8 would be replaced.
      line += request.headers.bytes[request.headers.valueRange(at: index)] + [0]
      unsafe list = line.withUnsafeBytes { unsafe curl_slist_append(list, $0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
    }
    _ = unsafe CCurl_setPointer(handle, CURLOPT_HTTPHEADER, list)
    unsafe curl_slist_free_all(headerList)
    unsafe headerList = list
    lastHeaders = request.headers
  }

  /// Closes the file or stream that is being sent, and discards the rest of the body.
  func dropBody() {
    if let feed {
      feed.close()
      self.feed = nil
      unsafe CCurl_setBeginFunction(handle, nil, nil)
    }
    reader = nil
    (upload, wholeUpload) = (Data(), Data())
  }

  // MARK: Results

  /// The error that stopped reading the body; nil if there is none.
  var bodyFailure: (any Error)? { reader?.failure ?? feed?.failure }

  /// Whether the request used a connection that had served another request.
  var usedKeptConnection: Bool { opensNone && bytesSent > 0 }

  /// Whether no connection was opened for the request.
  var opensNone: Bool { unsafe CCurl_getLong(handle, CURLINFO_NUM_CONNECTS) == 0 }

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

  /// libcurl's message for the last failure; empty if there is none.
  var errorDetail: String { unsafe String(cString: errorText) }

  /// The result of OpenSSL's verification of the certificate.
  var verificationResult: Int { unsafe CCurl_getLong(handle, CURLINFO_SSL_VERIFYRESULT) }

  func resumeReceiving() -> CURLcode { unsafe curl_easy_pause(handle, CURLPAUSE_CONT) }

  /// Resumes sending, and leaves receiving paused if it is.
  func resumeSending(isReceivingPaused: Bool) -> CURLcode {
    unsafe curl_easy_pause(handle, isReceivingPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
  }

  /// A timeout in libcurl's form. It is never 0, which means none. It is one millisecond longer, because libcurl's clock may be
  /// ahead by one and a timeout must not be early.
  private static func milliseconds(_ seconds: Double) -> Int { Int((min(max(seconds, 0), 1e6) * 1000).rounded(.up)) + 1 }

  private func set(_ option: CURLoption, _ value: Int) { _ = unsafe CCurl_setLong(handle, option, value) }
  private func set(_ option: CURLoption, _ value: String) { _ = unsafe CCurl_setPointer(handle, option, value) }
}
