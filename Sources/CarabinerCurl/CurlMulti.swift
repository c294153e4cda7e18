internal import CCurl
internal import Carabiner

/// The running exchanges of a loop: transfers of libcurl, and the engine for HTTP/1.1. Used only on the event loop's thread.
@safe final class CurlMulti: @unchecked Sendable {
  // Created by the thread that starts the loop, and then used only by the loop's thread. The runtime need not check each access.

  /// The maximum number of idle connections. libcurl's default is four per running transfer: when many transfers end at once, it
  /// would close connections that the next transfers need.
  private static let maximumIdleConnections = 256

  private let handle: MultiHandle
  private let poll: Poll
  private let counters: TransportCounters
  /// The running transfers. Each knows its index.
  @safe @exclusivity(unchecked) private var transfers: [Transfer] = []
  /// Those of them that send a stream.
  @safe @exclusivity(unchecked) private var streams: [ObjectIdentifier: Transfer] = [:]
  /// Sends most requests of HTTP/1.1; nil before the first of them.
  @safe @exclusivity(unchecked) private(set) var engine: HTTP1Engine?

  /// Creates a handle that registers libcurl's sockets with `poll`.
  init(poll: Poll, maximumConnectionsPerHost: Int, counters: TransportCounters) throws {
    handle = try MultiHandle(poll: poll)
    self.poll = poll
    self.counters = counters
    handle.set(CURLMOPT_MAX_HOST_CONNECTIONS, maximumConnectionsPerHost)
    handle.set(CURLMOPT_MAXCONNECTS, Self.maximumIdleConnections)
    handle.set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
  }

  /// The engine; it is created for the first request.
  func engine(_ configuration: @autoclosure () -> CurlTransport.Configuration) throws -> HTTP1Engine {
    if let engine { return engine }
    let made = try HTTP1Engine(configuration(), poll: poll, counters: counters)
    engine = made
    return made
  }

  // MARK: Transfers

  var transferCount: Int { transfers.count + (engine?.exchangeCount ?? 0) }

  func add(_ transfer: Transfer) {
    counters.requestBegan()
    transfer.place = transfers.count
    transfers.append(transfer)
    if transfer.easy.feed != nil { addStream(transfer) }
    unsafe transfer.easy.setContext(Unmanaged.passUnretained(transfer).toOpaque())
    guard handle.add(transfer.easy) else {
      remove(transfer)
      return transfer.finish(CURLE_FAILED_INIT)
    }
  }

  private func addStream(_ transfer: Transfer) {
    streams[ObjectIdentifier(transfer)] = transfer
    unsafe handle.onSocket = { easy, socket, isWatched in
      guard let context = unsafe CCurl_getPrivate(easy) else { return }
      let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      transfer.socketChanged(socket, isWatched: isWatched)
    }
  }

  /// Aborts a transfer. Its connection is closed, unless the response is complete.
  func abort(_ transfer: Transfer) {
    guard transfer.place != nil else { return }
    handle.remove(transfer.easy)
    remove(transfer)
    transfer.aborted()
  }

  /// Resumes a paused transfer. The bytes that libcurl kept are delivered before this returns.
  func resume(_ transfer: Transfer) {
    // A transfer that has ended has released its handle.
    guard transfer.place != nil else { return }
    end(transfer, with: transfer.resumeReceiving())
  }

  /// Resumes a transfer that was paused because the stream of its body had no chunk.
  func resumeSending(_ transfer: Transfer) {
    guard transfer.place != nil else { return }
    end(transfer, with: transfer.resumeSending())
  }

  /// Ends a transfer if resuming it failed.
  ///
  /// If a callback refuses the held bytes, the transfer ends here: libcurl would continue without those bytes.
  private func end(_ transfer: Transfer, with code: CURLcode) {
    guard code != CURLE_OK, transfer.place != nil else { return }
    handle.remove(transfer.easy)
    remove(transfer)
    transfer.finish(code)
  }

  /// Ends the streams of transfers whose server wants no more of them.
  func endUnwantedStreams() {
    guard !streams.isEmpty else { return }
    for transfer in streams.values.filter({ $0.endsStream() }) { resumeSending(transfer) }
  }

  func abortAll(_ error: TransportError) {
    engine?.abortAll(error)
    streams = [:]
    unsafe handle.onSocket = nil
    while let transfer = transfers.popLast() {
      handle.remove(transfer.easy)
      transfer.place = nil
      counters.requestEnded(onKeptConnection: transfer.easy.usedKeptConnection)
      transfer.failed(error)
    }
  }

  func collectFinished() {
    engine?.collectOpened()
    var code = CURLE_OK
    while let easy = unsafe handle.nextFinished(&code) {
      guard let context = unsafe CCurl_getPrivate(easy) else { continue }
      let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      guard transfer.place != nil else { continue }
      handle.remove(transfer.easy)
      if transfer.beginsAgain(after: code), handle.add(transfer.easy) { continue }
      remove(transfer)
      transfer.finish(code)
    }
  }

  /// Removes a transfer from the list; the last one moves to its index.
  private func remove(_ transfer: Transfer) {
    guard let place = transfer.place, let last = transfers.popLast() else { return }
    counters.requestEnded(onKeptConnection: transfer.easy.usedKeptConnection)
    if !streams.isEmpty {
      streams[ObjectIdentifier(transfer)] = nil
      if streams.isEmpty { unsafe handle.onSocket = nil }
    }
    if last !== transfer {
      transfers[place] = last
      last.place = place
    }
    transfer.place = nil
  }

  /// Frees the handles. All transfers must have been removed.
  func close() {
    engine?.close()
    handle.close()
  }

  // MARK: Sockets and time

  func socketReady(_ event: Poll.Event) {
    if let engine, engine.socketReady(event) { return }
    handle.socketReady(event)
  }

  func timeoutIfDue() {
    engine?.checkTimes()
    handle.timeoutIfDue()
  }

  /// The milliseconds until ``timeoutIfDue()`` must be called, rounded up; nil if it need not be called.
  func millisecondsToTimeout() -> Int? {
    let next = min(handle.due, engine?.due ?? .max)
    return next == .max ? nil : MonotonicTime.milliseconds(until: next)
  }
}
