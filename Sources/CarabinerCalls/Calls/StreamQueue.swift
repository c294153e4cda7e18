internal import FoundationEssentials
internal import Synchronization

/// The bytes of a stream that the HTTP client delivered, and the reader that makes results of them.
///
/// One thread at a time takes results. The reader is outside the lock meanwhile, because it runs compression of the user.
final class StreamQueue: Closable {
  fileprivate enum Item {
    case headers(Headers, status: Int?)
    case data(Data)
    case end(Code, (any Error)?)
  }

  fileprivate struct State {
    var items = Queue<Item>()
    var bytes = 0
    var reader: (any ResponseReader)?
    var hasBegun = false
    /// The result that replaces everything that was not taken.
    var replacement: StreamResult<Data>?
    var isOver = false
    /// Keeps the call while results may come.
    var life: CallLife?
  }

  private let maximumBytes: Int
  private let state: Mutex<State>

  /// - Parameter maximumBytes: The largest number of bytes that wait for the reader, of a client that does not wait.
  init(_ reader: any ResponseReader, maximumBytes: Int, life: CallLife) {
    self.maximumBytes = maximumBytes
    state = Mutex(State(reader: reader, life: life))
  }

  // MARK: From the HTTP client

  func receive(_ headers: Headers, status: Int?) { add(.headers(headers, status: status)) }

  /// Adds a piece of the body. Returns false if too many bytes wait.
  func receive(_ data: Data) -> Bool {
    let hasRoom = state.withLock { $0.bytes + data.count <= maximumBytes }
    if hasRoom { add(.data(data)) }
    return hasRoom
  }

  func end(_ code: Code, _ error: (any Error)?) { add(.end(code, error)) }

  private func add(_ item: Item) {
    state.withLock { state in
      guard !state.isOver, state.replacement == nil else { return }
      state.items.add(item)
      if case .data(let data) = item { state.bytes += data.count }
    }
  }

  // MARK: To the hooks

  /// Drops everything that was not taken. The next result is the end.
  func replace(with end: StreamResult<Data>) {
    let dropped: Queue<Item> = state.withLock { state in
      guard !state.isOver else { return Queue() }
      let dropped = state.items
      (state.items, state.bytes, state.replacement) = (Queue(), 0, end)
      return dropped
    }
    withExtendedLifetime(dropped) {}
  }

  /// Drops everything, and releases the call.
  func close() {
    let life = state.withLock { state in
      defer { (state.items, state.bytes, state.isOver, state.life, state.reader) = (Queue(), 0, true, nil, nil) }
      return state.life
    }
    withExtendedLifetime(life) {}
  }

  /// Whether everything that came was read.
  var isRead: Bool { state.withLock { $0.items.isEmpty } }

  /// Whether the end was taken.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// The next result, and what keeps the call meanwhile; nil if more must come. Called by one thread at a time.
  func next() -> (StreamResult<Data>, CallLife)? {
    guard var reader = state.withLock({ $0.takeReader() }) else { return nil }
    var result = reader.next().map { $0.result }
    while result == nil, let item = state.withLock({ $0.takeItem() }) {
      switch item {
      case .headers(let headers, let status): begin(&reader, headers, status)
      case .data(let data): reader.append(data)
      case .end(let code, let error?):
        result = .failed(
          error as? ConnectError ?? ConnectError(code: code == .ok ? .unknown : code, message: "\(error)", exception: error))
      case .end(let code, nil):
        if state.withLock({ $0.hasBegun }) { reader.finish(code: code) } else { result = .failed(.noResponse(code)) }
      }
      result = result ?? reader.next().map { $0.result }
    }
    return state.withLock { state in
      guard !state.isOver, let life = state.life else { return nil }
      state.reader = reader
      guard let taken = state.replacement ?? result else { return nil }
      if taken.isComplete { (state.isOver, state.life, state.items) = (true, nil, Queue()) }
      return (taken, life)
    }
  }

  private func begin(_ reader: inout any ResponseReader, _ headers: Headers, _ status: Int?) {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if isFirst { reader.begin(status.map { .http($0) } ?? .unknown, headers: headers) }
  }
}

extension StreamQueue.State {
  fileprivate mutating func takeReader() -> (any ResponseReader)? {
    guard !isOver else { return nil }
    defer { reader = nil }
    return reader
  }

  fileprivate mutating func takeItem() -> StreamQueue.Item? {
    guard let item = items.take() else { return nil }
    if case .data(let data) = item { bytes -= data.count }
    return item
  }
}

extension ConnectError {
  fileprivate static func noResponse(_ code: Code) -> ConnectError {
    ConnectError(
      code: code == .ok ? .internalError : code,
      message: "the exchange ended without a response; check the HTTPClientInterface in use")
  }
}

extension ResponseEvent {
  fileprivate var result: StreamResult<Data> {
    switch self {
    case .headers(let headers): .headers(headers)
    case .message(let message): .message(message)
    case .complete(let code, let error, let trailers): .complete(code: code, error: error, trailers: trailers)
    }
  }
}
