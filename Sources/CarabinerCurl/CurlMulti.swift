internal import CCurl
internal import Carabiner
internal import Glibc

/// libcurl's multi handle: many transfers on one thread. Used only on the event loop's thread.
@safe final class CurlMulti: @unchecked Sendable {
  // Created by the thread that starts the loop, and then used only by the loop's thread.

  /// curl_global_init is not thread-safe; a static is initialised once.
  private static let globalInitialization: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

  /// The maximum number of idle connections. libcurl's default is four per running transfer: when many transfers end at once, it
  /// would close connections that the next transfers need.
  private static let maximumIdleConnections = 256

  private let handle: UnsafeMutableRawPointer
  private let poll: Poll
  private let counters: TransportCounters
  /// The time at which libcurl must be called, in nanoseconds of the monotonic clock.
  private var due: UInt64?
  /// The running transfers. Each knows its index.
  private var transfers: [Transfer] = []
  /// Those of them that send a stream.
  private var streams: [ObjectIdentifier: Transfer] = [:]

  /// Creates a handle that registers libcurl's sockets with `poll`.
  init(poll: Poll, maximumConnectionsPerHost: Int, counters: TransportCounters) throws {
    guard Self.globalInitialization == CURLE_OK, let multi = unsafe curl_multi_init() else {
      throw TransportError(.other, "libcurl cannot be initialised; check that memory is available", url: "")
    }
    unsafe handle = multi
    self.poll = poll
    self.counters = counters
    unsafe CCurl_setMultiLong(multi, CURLMOPT_MAX_HOST_CONNECTIONS, maximumConnectionsPerHost)
    unsafe CCurl_setMultiLong(multi, CURLMOPT_MAXCONNECTS, Self.maximumIdleConnections)
    unsafe CCurl_setMultiLong(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    unsafe CCurl_setMultiFunctions(
      handle,
      { easy, socket, action, context, _ in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().socketChanged(easy, socket, action)
        return 0
      },
      { _, milliseconds, context in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().timeoutChanged(milliseconds)
        return 0
      },
      Unmanaged.passUnretained(self).toOpaque())
  }

  // MARK: Transfers

  var transferCount: Int { transfers.count }

  func add(_ transfer: Transfer) {
    counters.requestBegan()
    transfer.place = transfers.count
    transfers.append(transfer)
    if transfer.easy.feed != nil { streams[ObjectIdentifier(transfer)] = transfer }
    unsafe transfer.easy.setContext(Unmanaged.passUnretained(transfer).toOpaque())
    transfer.easy.openSockets(with: poll)
    guard unsafe curl_multi_add_handle(handle, transfer.easy.handle) == CURLM_OK else {
      remove(transfer)
      return transfer.finish(CURLE_FAILED_INIT)
    }
  }

  /// Aborts a transfer. Its connection is closed, unless the response is complete.
  func abort(_ transfer: Transfer) {
    guard transfer.place != nil else { return }
    unsafe curl_multi_remove_handle(handle, transfer.easy.handle)
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
    unsafe curl_multi_remove_handle(handle, transfer.easy.handle)
    remove(transfer)
    transfer.finish(code)
  }

  /// Ends the streams of transfers whose server wants no more of them.
  func endUnwantedStreams() {
    guard !streams.isEmpty else { return }
    for transfer in streams.values.filter({ $0.endsStream() }) { resumeSending(transfer) }
  }

  func abortAll(_ error: TransportError) {
    streams = [:]
    while let transfer = transfers.popLast() {
      unsafe curl_multi_remove_handle(handle, transfer.easy.handle)
      transfer.place = nil
      counters.requestEnded(onKeptConnection: transfer.easy.usedKeptConnection)
      transfer.failed(error)
    }
  }

  func collectFinished() {
    var code = CURLE_OK
    while let easy = unsafe CCurl_nextFinished(handle, &code) {
      guard let context = unsafe CCurl_getPrivate(easy) else { continue }
      let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      guard transfer.place != nil else { continue }
      unsafe curl_multi_remove_handle(handle, easy)
      remove(transfer)
      transfer.finish(code)
    }
  }

  /// Removes a transfer from the list; the last one moves to its index.
  private func remove(_ transfer: Transfer) {
    guard let place = transfer.place, let last = transfers.popLast() else { return }
    counters.requestEnded(onKeptConnection: transfer.easy.usedKeptConnection)
    if !streams.isEmpty { streams[ObjectIdentifier(transfer)] = nil }
    if last !== transfer {
      transfers[place] = last
      last.place = place
    }
    transfer.place = nil
  }

  /// Frees the handle. All transfers must have been removed.
  func close() {
    unsafe curl_multi_cleanup(handle)
  }

  // MARK: Sockets and time

  func socketReady(_ event: Poll.Event) {
    var running: Int32 = 0
    unsafe curl_multi_socket_action(handle, event.descriptor, event.bits, &running)
  }

  func timeoutIfDue() {
    guard let due, due <= MonotonicTime.now else { return }
    self.due = nil
    var running: Int32 = 0
    unsafe curl_multi_socket_action(handle, CURL_SOCKET_BAD, 0, &running)
  }

  /// The milliseconds until libcurl must be called, rounded up; nil if it need not be called.
  func millisecondsToTimeout() -> Int? { due.map(MonotonicTime.milliseconds(until:)) }

  private func socketChanged(_ easy: UnsafeMutableRawPointer?, _ socket: Int32, _ action: Int32) {
    if !streams.isEmpty, let easy = unsafe easy, let context = unsafe CCurl_getPrivate(easy) {
      let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      transfer.socketChanged(socket, isWatched: action != CURL_POLL_REMOVE)
    }
    if action == CURL_POLL_REMOVE {
      poll.forget(socket)
    } else {
      poll.watch(socket, curlAction: action)
    }
  }

  private func timeoutChanged(_ milliseconds: Int) {
    due = milliseconds < 0 ? nil : milliseconds == 0 ? 0 : MonotonicTime.now + UInt64(milliseconds) * 1_000_000
  }
}
