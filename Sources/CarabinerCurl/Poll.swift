internal import CCurl
internal import CLinux
internal import Carabiner
internal import Glibc

/// The loop's epoll set and the descriptor that wakes it.
@safe final class Poll: @unchecked Sendable {
  // `wake` is a single write and may come from any thread; everything else belongs to the loop's thread.

  struct Event {
    let descriptor: Int32
    let bits: Int32
  }

  private static let eventsPerWait = 64

  private let epoll: Int32
  private let wakeUp: Int32
  private let buffer = UnsafeMutablePointer<epoll_event>.allocate(capacity: Poll.eventsPerWait)

  init() throws {
    epoll = CLinux_newPoll()
    guard epoll >= 0 else { throw SystemFailure.noDescriptor(errno) }
    wakeUp = CLinux_newWakeUp()
    guard wakeUp >= 0 else {
      let code = errno
      Glibc.close(epoll)
      throw SystemFailure.noDescriptor(code)
    }
    _ = CLinux_watch(epoll, wakeUp, CLinux_READABLE)
  }

  deinit {
    unsafe buffer.deallocate()
    close(epoll)
    close(wakeUp)
  }

  func wake() {
    var one: UInt64 = 1
    _ = unsafe write(wakeUp, &one, MemoryLayout<UInt64>.size)
  }

  func watch(_ descriptor: Int32, curlAction action: Int32) {
    var events: UInt32 = 0
    if action & CURL_POLL_IN != 0 { events |= CLinux_READABLE }
    if action & CURL_POLL_OUT != 0 { events |= CLinux_WRITABLE }
    _ = CLinux_watch(epoll, descriptor, events)
  }

  func forget(_ descriptor: Int32) {
    _ = CLinux_forget(epoll, descriptor)
  }

  /// Waits for sockets and tells which are ready; wake-ups are swallowed here.
  ///
  /// - Parameter onWaking: Called once, before the first socket.
  func wait(milliseconds: Int32, _ onWaking: () -> Void, onReady: (Event) -> Void) {
    let count = unsafe Int(epoll_wait(epoll, buffer, Int32(Self.eventsPerWait), milliseconds))
    onWaking()
    guard count > 0 else { return }
    for index in 0..<count {
      let descriptor = unsafe CLinux_descriptor(buffer + index)
      let ready = unsafe buffer[index].events
      guard descriptor != wakeUp else {
        var value: UInt64 = 0
        _ = unsafe read(wakeUp, &value, MemoryLayout<UInt64>.size)
        continue
      }
      var bits: Int32 = 0
      if CLinux_isReadable(ready) != 0 { bits |= CURL_CSELECT_IN }
      if CLinux_isWritable(ready) != 0 { bits |= CURL_CSELECT_OUT }
      if CLinux_isBroken(ready) != 0 { bits |= CURL_CSELECT_ERR }
      onReady(Event(descriptor: descriptor, bits: bits))
    }
  }
}

/// The system refused something the loop cannot do without.
enum SystemFailure {
  static func noDescriptor(_ code: Int32) -> TransportError {
    TransportError(.other, "the system has no descriptor left (errno \(code)); raise the limit of open files", url: "")
  }

  static func noThread(_ code: Int32) -> TransportError {
    TransportError(.other, "the system has no thread left (error \(code)); raise the limit of threads", url: "")
  }

  static var stopped: TransportError {
    TransportError(.other, "the transport was shut down while the request was under way", url: "")
  }
}
