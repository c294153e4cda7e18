internal import CCarabiner
internal import CTestHost
internal import CarabinerABI

/// Bytes a plugin gave to the host, and the function it gave them to.
struct HandedBytes: Sendable {
  let slot: HostSlot
  /// The name of a header, or a description of other bytes.
  let name: String
  let bytes: [UInt8]
  /// Whether they are marked as sensitive, or have the name of a sensitive header.
  var isMarked = false
  let place: String

  /// Headers that always hold secrets.
  private static let secretHeaders: Set<String> = ["authorization", "proxy-authorization", "cookie", "set-cookie"]

  static func isMarked(_ header: String, _ flags: UInt32) -> Bool {
    flags & UInt32(CRB_HEADER_SENSITIVE) != 0 || secretHeaders.contains(header.lowercased())
  }
}

/// The ledger: all bytes that the plugin passes to the host while a check asks for them.
extension TestHost {
  /// The maximum number of bytes of an entry, and of entries.
  private static let maximumEntryBytes = 64 << 10
  private static let maximumEntries = 20_000

  /// Begins to record the bytes that the plugin passes to the host. From now on, new buffers are filled with the byte of unwritten
  /// memory.
  func openLedger() { state.withLock { $0.ledger = [] } }

  /// Returns and removes the bytes recorded so far.
  func takeLedger() -> [HandedBytes] {
    state.withLock { state in
      defer { if state.ledger != nil { state.ledger = [] } }
      return state.ledger ?? []
    }
  }

  private func keep(_ make: (String) -> [HandedBytes]) {
    guard state.withLock({ $0.ledger.map { $0.count < Self.maximumEntries } ?? false }) else { return }
    let handed = make(place)
    state.withLock { $0.ledger? += handed }
  }

  func keep(_ slot: HostSlot, _ name: String, _ view: crb_view) {
    keep { place in [HandedBytes(slot: slot, name: name, bytes: unsafe Self.start(of: view), place: place)] }
  }

  func keep(_ slot: HostSlot, _ name: String, buffer: crb_buf) {
    keep { place in
      let bytes = state.withLock { state in unsafe state.buffers.view(buffer).map { unsafe Self.start(of: $0) } }
      return [HandedBytes(slot: slot, name: name, bytes: bytes ?? [], place: place)]
    }
  }

  func keep(_ slot: HostSlot, header name: crb_view, _ value: crb_view, _ flags: UInt32) {
    keep { place in
      let text = unsafe String(decoding: Self.start(of: name), as: UTF8.self)
      return [
        HandedBytes(slot: slot, name: "the name of a header", bytes: unsafe Self.start(of: name), place: place),
        HandedBytes(
          slot: slot, name: "the header \(text)", bytes: unsafe Self.start(of: value),
          isMarked: HandedBytes.isMarked(text, flags), place: place),
      ]
    }
  }

  func keep(_ slot: HostSlot, headers: UnsafePointer<crb_header>?, _ count: Int) {
    for index in 0..<min(max(count, 0), Self.maximumEntries) {
      guard let field = unsafe headers?[index] else { return }
      unsafe keep(slot, header: field.name, field.value, field.flags)
    }
  }

  func keep(error: UnsafePointer<crb_error>?) {
    guard let error = unsafe error else { return }
    let copy = unsafe InterceptorTable.copy(error, crb_error())
    unsafe keep(.setError, "an error", copy.domain)
    unsafe keep(.setError, "an error", copy.message)
    unsafe keep(.setError, "an error", copy.detail_json)
    unsafe keep(.setError, "an error", copy.origin)
  }

  func keep(head: UnsafePointer<crb_head>?) {
    guard let head = unsafe head else { return }
    let copy = unsafe InterceptorTable.copy(head, crb_head())
    unsafe keep(.setHead, headers: copy.headers, copy.header_count)
  }

  func keep(request: UnsafePointer<crb_fetch_request>?) {
    guard let request = unsafe request else { return }
    let copy = unsafe InterceptorTable.copy(request, crb_fetch_request())
    unsafe keep(.fetchStart, "the URL of its own request", copy.url)
  }

  func keep(value: UnsafePointer<crb_value>?) {
    guard let value = unsafe value, unsafe value.pointee.type >= UInt32(CRB_VALUE_TEXT),
      unsafe value.pointee.type <= UInt32(CRB_VALUE_JSON)
    else { return }
    unsafe keep(.bagSet, "the baggage", value.pointee.v)
  }

  /// Fills a new buffer with the byte of unwritten memory.
  func markUnwritten(_ count: Int, _ bytes: UnsafeMutablePointer<UInt8>?) {
    guard let bytes = unsafe bytes, count > 0, state.withLock({ $0.ledger != nil }) else { return }
    unsafe bytes.update(repeating: UInt8(CTESTHOST_UNWRITTEN), count: count)
  }

  private static func start(of view: crb_view) -> [UInt8] { unsafe Array(view.bytes.prefix(maximumEntryBytes)) }
}
