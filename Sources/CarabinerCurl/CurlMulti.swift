internal import CCurl
internal import Carabiner
internal import Glibc

/// libcurl's multi handle: many transfers on one thread. Belongs to its loop's thread.
@safe final class CurlMulti: @unchecked Sendable {
  // Made by the thread that starts the loop and from then on touched by the loop's thread alone.

  /// curl_global_init is not safe to run twice at once; a static is made once.
  private static let globalInitialization: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

  /// How many connections with nothing under way are kept. libcurl by itself keeps four for each transfer of the moment: when many end
  /// at once, it would close connections that the next many have to open again.
  private static let maximumIdleConnections = 256

  private let handle: UnsafeMutableRawPointer
  private let poll: Poll
  private let counters: TransportCounters
  /// The time at which libcurl must be called, in nanoseconds of the monotonic clock.
  private var due: UInt64?
  /// The running transfers. Each knows its place.
  private var transfers: [Transfer] = []

  /// A handle that lets libcurl tell `poll` which sockets it waits for.
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
      { _, socket, action, context, _ in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().socketChanged(socket, action)
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
    // One that has ended has given its handle away.
    guard transfer.place != nil else { return }
    let code = transfer.resumeReceiving()
    // A callback that refuses what was held back ends the transfer here: libcurl itself would go on without those bytes.
    guard code != CURLE_OK, transfer.place != nil else { return }
    unsafe curl_multi_remove_handle(handle, transfer.easy.handle)
    remove(transfer)
    transfer.finish(code)
  }

  func abortAll(_ error: TransportError) {
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

  /// Takes a transfer out of the list; the last one moves to its place.
  private func remove(_ transfer: Transfer) {
    guard let place = transfer.place, let last = transfers.popLast() else { return }
    counters.requestEnded(onKeptConnection: transfer.easy.usedKeptConnection)
    if last !== transfer {
      transfers[place] = last
      last.place = place
    }
    transfer.place = nil
  }

  /// Ends libcurl's use of this handle; no transfer may be left.
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

  /// Milliseconds until libcurl must be called, rounded up; nil if it need not.
  func millisecondsToTimeout() -> Int? { due.map(MonotonicTime.milliseconds(until:)) }

  private func socketChanged(_ socket: Int32, _ action: Int32) {
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
