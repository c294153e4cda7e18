internal import CCarabiner
internal import CarabinerABI
internal import Glibc

/// One call passing through one stage, as the test host sees it. Guarded by the test host's lock.
@safe final class TestHostCall {
  /// The state of the token of a call. A call has one token at a time.
  enum Token {
    case none
    case armed(crb_token)
    case resumed(crb_token, crb_verdict)
    case revoked(crb_token)

    /// The verdict of resume().
    var verdict: crb_verdict? {
      if case .resumed(_, let verdict) = self { verdict } else { nil }
    }

    var isRevoked: Bool { if case .revoked = self { true } else { false } }
  }

  /// A baggage value, copied.
  struct BaggageValue {
    let type: UInt32
    let number: Int64
    let bytes: [UInt8]
  }

  let handle: crb_call
  let kind: StageKind
  let needs: Parts
  let mutates: Parts
  /// The interceptor's id, for messages.
  let interceptor: String
  let requestID: UInt64
  var operation: OperationSample
  var request: HTTPRequestSample
  /// The response's head once it is there.
  var head: HeadSample?
  /// The hook that is running or pending; nil between hooks.
  var hook: Hook?
  /// The thread the hook runs on.
  var thread: pthread_t?
  /// A thread that acts as the thread of the hook, which runs in a worker.
  var deputy: pthread_t?
  /// Whether each hook runs on another thread.
  var changesThreads = false
  /// As ``ExchangeRunner/Settings/givesAllHeaders``.
  var givesAllHeaders = false
  /// As ``Exchange/isMalformed``.
  var isMalformed = false
  var token = Token.none
  var staged = Staged()
  /// How many elements the hook was refused because its window is full.
  var refusedElements = 0
  /// The memory that is lent to the running hook.
  var memory: GuardedMemory
  var isCancelled = false
  /// Whether the error that the stage gets blames a plugin. Only then may the error that replaces it do so too.
  var blamesPlugin = false
  var isOver = false
  var attempt: UInt32 = 0
  private let exchange: Exchange
  var deadline: UInt64 = .max
  var baggage: [crb_key: BaggageValue] = [:]
  /// Bytes given out by scratch(), which live as long as the call.
  var scratchBytes = 0
  private var scratchBlocks: [UnsafeMutableRawPointer] = unsafe []
  private var guardedScratch: GuardedMemory
  private var guardedAddresses: [UInt] = []

  init(
    _ handle: crb_call, _ kind: StageKind, needs: Parts, mutates: Parts, interceptor: String, exchange: Exchange, isGuarded: Bool
  ) {
    self.handle = handle
    self.kind = kind
    self.needs = needs
    self.mutates = mutates
    self.interceptor = interceptor
    requestID = handle >> 32
    memory = GuardedMemory(isGuarded: isGuarded)
    guardedScratch = GuardedMemory(isGuarded: isGuarded)
    operation = exchange.operation
    request = exchange.request
    self.exchange = exchange
  }

  /// Whether a text that the plugin gets contains an unpaired surrogate.
  var hasHalves: Bool {
    exchange.results.contains { StagedJSON.hasHalf(Array($0.json.utf8)) } || StagedJSON.hasHalf(Array(exchange.chunks.joined()))
  }

  /// Whether the calling thread runs the hook, or acts as its thread.
  var isHere: Bool { [thread, deputy].contains { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }

  /// Whether the calling thread runs the hook, or the plugin holds its token.
  var isOwned: Bool {
    switch token {
    case .none: hook != nil && isHere
    case .armed: true
    case .resumed, .revoked: false
    }
  }

  /// The place of the call for messages: the stage, and its hook if one is running.
  var place: String { "\(interceptor) \(kind.rawValue)\(hook.map { ".\($0.name)" } ?? "")" }

  /// The headers that the hook sees (section 4 of the header); nil if it sees none.
  var visibleHeaders: [HeaderSample]? {
    guard let hook else { return nil }
    return switch (kind, Contract.headerSource(in: hook, of: kind)) {
    case (.graphQL, _), (.cache, _): operation.headers
    case (.http, .request), (.parsing, .request): request.headers
    case (.http, .response), (.parsing, .response): head?.headers
    }
  }

  /// Changes the headers the hook sees.
  func setVisibleHeaders(_ headers: [HeaderSample]) {
    staged.isEdited = true
    switch kind {
    case .graphQL: operation.headers = headers
    case .http: if hook == .onRequest { request.headers = headers } else { head?.headers = headers }
    case .cache, .parsing: break
    }
  }

  /// Whether the hook may change headers.
  var mayWriteHeaders: Bool { rights(.headers).contains(.write) }

  /// Whether the hook may read a part with field_get() (section 4).
  func mayRead(_ part: Parts) -> Bool { part != .headers && rights(part).contains(.read) }

  /// Whether the hook may replace a part with field_set().
  func mayWrite(_ part: Parts) -> Bool { part != .headers && rights(part).contains(.write) }

  private func rights(_ part: Parts) -> Contract.Rights { hook.map { Contract.rights(part, in: $0, of: kind) } ?? [] }

  /// The bytes of a part; nil if it is absent.
  func part(_ part: Parts) -> [UInt8]? {
    switch part {
    case .document: Array(operation.document.utf8)
    case .variables: operation.variables.map { Array($0.utf8) }
    case .extensions: operation.extensions.map { Array($0.utf8) }
    case .operationName: operation.name.map { Array($0.utf8) }
    case .url: Array(request.url.utf8)
    case .method: Array(request.method.utf8)
    case .body: request.body
    default: nil
    }
  }

  func replace(_ part: Parts, by bytes: [UInt8]?) {
    staged.isEdited = true
    let text = bytes.map { String(decoding: $0, as: UTF8.self) }
    switch part {
    case .document: operation.document = text ?? ""
    case .variables: operation.variables = text
    case .extensions: operation.extensions = text
    case .url: request.url = text ?? ""
    case .method: request.method = text ?? ""
    case .body:
      request.body = bytes
      request.isUpload = false
    default: break
    }
  }

  // MARK: Scratch memory

  /// How many bytes of one piece get pages of their own.
  private static let maximumGuardedScratch = 16 << 10

  func scratch(_ count: Int, _ alignment: Int) -> UnsafeMutableRawPointer {
    if guardedScratch.isGuarded, count > 0, count <= Self.maximumGuardedScratch {
      let memory = unsafe guardedScratch.room(count, alignment: alignment, named: GuardedMemory.scratchName).memory
      guardedAddresses.append(UInt(bitPattern: memory))
      return unsafe memory
    }
    let block = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: alignment)
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: max(count, 1))
    unsafe scratchBlocks.append(block)
    return unsafe block
  }

  /// Frees it, and returns its address.
  func freeScratch() -> [UInt] {
    let addresses = unsafe scratchBlocks.map { UInt(bitPattern: $0) } + guardedAddresses
    guardedAddresses = []
    guardedScratch.takeBack()
    guardedScratch.forget()
    for index in unsafe scratchBlocks.indices { unsafe scratchBlocks[index].deallocate() }
    unsafe scratchBlocks = unsafe []
    return addresses
  }
}
