internal import CCurl
internal import Carabiner
internal import Glibc

/// A multi handle of libcurl: many transfers on one thread, whose sockets are in the loop's poll. Used only on the event loop's thread.
@safe final class MultiHandle: @unchecked Sendable {
  // Created by the thread that starts the loop, and then used only by the loop's thread.

  /// curl_global_init is not thread-safe; a static is initialised once.
  private static let globalInitialization: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

  private let handle: UnsafeMutableRawPointer
  private let poll: Poll
  /// Called when libcurl begins or ends to wait for a socket in the name of an easy handle.
  var onSocket: ((_ easy: UnsafeMutableRawPointer, _ socket: Int32, _ isWatched: Bool) -> Void)?
  /// When libcurl must be called, in nanoseconds of the monotonic clock; the maximum if it need not be called.
  private(set) var due = UInt64.max

  init(poll: Poll) throws {
    guard Self.globalInitialization == CURLE_OK, let multi = unsafe curl_multi_init() else {
      throw TransportError(.other, "libcurl cannot be initialised; check that memory is available", url: "")
    }
    unsafe handle = multi
    self.poll = poll
    unsafe CCurl_setMultiFunctions(
      handle,
      { easy, socket, action, context, _ in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().socketChanged(easy, socket, action)
        return 0
      },
      { _, milliseconds, context in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().timeoutChanged(milliseconds)
        return 0
      },
      Unmanaged.passUnretained(self).toOpaque())
  }

  func set(_ option: CURLMoption, _ value: Int) { unsafe CCurl_setMultiLong(handle, option, value) }

  // MARK: Transfers

  /// Starts a transfer. Returns false if libcurl does not take it.
  func add(_ easy: EasyHandle) -> Bool {
    easy.openSockets(with: poll)
    return unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK
  }

  /// Removes a transfer. If it has not ended, its connection is closed.
  func remove(_ easy: EasyHandle) { unsafe curl_multi_remove_handle(handle, easy.handle) }

  /// The next easy handle whose transfer has ended, which must be removed then; nil if there is none.
  func nextFinished(_ code: inout CURLcode) -> UnsafeMutableRawPointer? { unsafe CCurl_nextFinished(handle, &code) }

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
    guard due != .max, due <= MonotonicTime.now else { return }
    due = .max
    var running: Int32 = 0
    unsafe curl_multi_socket_action(handle, CURL_SOCKET_BAD, 0, &running)
  }

  private func socketChanged(_ easy: UnsafeMutableRawPointer?, _ socket: Int32, _ action: Int32) {
    if let onSocket = unsafe onSocket, let easy = unsafe easy { unsafe onSocket(easy, socket, action != CURL_POLL_REMOVE) }
    if action == CURL_POLL_REMOVE {
      poll.forget(socket)
    } else {
      poll.watch(socket, curlAction: action)
    }
  }

  private func timeoutChanged(_ milliseconds: Int) {
    due = milliseconds < 0 ? .max : milliseconds == 0 ? 0 : MonotonicTime.now + UInt64(milliseconds) * 1_000_000
  }
}
