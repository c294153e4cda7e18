internal import CCurl
internal import CLinux
internal import Carabiner
internal import Glibc

/// The loop's epoll set and the descriptor that wakes it.
///
/// An idle connection stays in the set, because removing and adding it again would cost two system calls per request. If its
/// server sends something while it is idle, it is removed. This is done only for sockets that are closed through
/// ``closeConnection(_:)``: otherwise the number of a closed socket could be reused for another one.
@safe final class Poll: @unchecked Sendable {
  // `wake` is a single write and may be called from any thread. Only the thread of the loop uses the rest, so the runtime need not
  // check each access.

  struct Event {
    let descriptor: Int32
    let bits: Int32
  }

  /// The state of a descriptor in the set.
  private struct Interest {
    /// The events in the set; 0 if the descriptor is not in the set.
    var events: UInt32 = 0
    /// Whether libcurl waits for these events.
    var isWanted = false
    /// Whether ``closeConnection(_:)`` will be called before the number is used for something else.
    var isConnection = false
  }

  private static let eventsPerWait = 64
  /// The number of waits that have begun.
  @safe @exclusivity(unchecked) private(set) var begunWaits: UInt64 = 0
  /// The last wait that reported all sockets that were ready, after they were handled.
  @safe @exclusivity(unchecked) private var lastCompleteWait: UInt64 = 0

  private let counters: TransportCounters
  private let epoll: Int32
  private let wakeUp: Int32
  /// By descriptor.
  @safe @exclusivity(unchecked) private var interests: [Interest] = []
  private let buffer = UnsafeMutablePointer<epoll_event>.allocate(capacity: Poll.eventsPerWait)

  init(counters: TransportCounters) throws {
    self.counters = counters
    epoll = CLinux_newPoll()
    guard epoll >= 0 else { throw SystemFailure.noDescriptor(errno) }
    wakeUp = CLinux_newWakeUp()
    guard wakeUp >= 0 else {
      let code = errno
      Glibc.close(epoll)
      throw SystemFailure.noDescriptor(code)
    }
    // Each write is reported once, so the counter need not be read.
    _ = CLinux_watch(epoll, wakeUp, CLinux_READABLE | CLinux_ONCE)
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

  // MARK: Sockets

  func watch(_ descriptor: Int32, curlAction action: Int32) {
    var events: UInt32 = 0
    if action & CURL_POLL_IN != 0 { events |= CLinux_READABLE }
    if action & CURL_POLL_OUT != 0 { events |= CLinux_WRITABLE }
    change(descriptor) { interest in
      interest.isWanted = true
      guard interest.events != events else { return }
      let isChanged = interest.events != 0 && CLinux_rewatch(epoll, descriptor, events) == 0
      interest.events = isChanged || CLinux_watch(epoll, descriptor, events) == 0 ? events : 0
    }
  }

  func forget(_ descriptor: Int32) {
    change(descriptor) { interest in
      interest.isWanted = false
      guard !interest.isConnection else { return }
      _ = CLinux_forget(epoll, descriptor)
      interest.events = 0
    }
  }

  /// Opens a socket for libcurl; -1 if the system call fails.
  func openConnection(family: Int32, type: Int32, protocol: Int32) -> Int32 {
    let descriptor = socket(family, type | CLinux_CLOSE_ON_EXEC, `protocol`)
    guard descriptor >= 0 else { return descriptor }
    counters.connectionOpened()
    change(descriptor) { $0 = Interest(isConnection: true) }
    return descriptor
  }

  /// Closes a socket, which removes it from the set.
  func closeConnection(_ descriptor: Int32) -> Int32 {
    counters.connectionClosed()
    change(descriptor) { $0 = Interest() }
    return close(descriptor)
  }

  private func change(_ descriptor: Int32, _ body: (inout Interest) -> Void) {
    let index = Int(descriptor)
    guard index >= 0 else { return }
    if index >= interests.count {
      interests.append(contentsOf: repeatElement(Interest(), count: index + 1 - interests.count))
    }
    body(&interests[index])
  }

  /// Whether libcurl waits for this descriptor. If not, it is removed from the set.
  private func isWanted(_ descriptor: Int32) -> Bool {
    guard interests.indices.contains(Int(descriptor)), !interests[Int(descriptor)].isWanted else { return true }
    _ = CLinux_forget(epoll, descriptor)
    interests[Int(descriptor)].events = 0
    return false
  }

  /// Whether everything that came from a socket in the set before the last wait has been reported and handled.
  ///
  /// - Parameter wait: The value of ``begunWaits`` when the socket was last read.
  func hasReported(since wait: UInt64) -> Bool { lastCompleteWait == begunWaits && wait < begunWaits }

  /// Waits for sockets and calls back for those that are ready. Wake-ups are handled here.
  ///
  /// - Parameter onWaking: Called once, before the first socket.
  func wait(milliseconds: Int32, _ onWaking: () -> Void, onReady: (Event) -> Void) {
    begunWaits += 1
    let count = unsafe Int(epoll_wait(epoll, buffer, Int32(Self.eventsPerWait), milliseconds))
    onWaking()
    defer { if 0..<Self.eventsPerWait ~= count { lastCompleteWait = begunWaits } }
    guard count > 0 else { return }
    for index in 0..<count {
      let descriptor = unsafe CLinux_descriptor(buffer + index)
      let ready = unsafe buffer[index].events
      guard descriptor != wakeUp, isWanted(descriptor) else { continue }
      var bits: Int32 = 0
      if CLinux_isReadable(ready) != 0 { bits |= CURL_CSELECT_IN }
      if CLinux_isWritable(ready) != 0 { bits |= CURL_CSELECT_OUT }
      if CLinux_isBroken(ready) != 0 { bits |= CURL_CSELECT_ERR }
      onReady(Event(descriptor: descriptor, bits: bits))
    }
  }
}

/// The errors of system calls that the loop needs.
enum SystemFailure {
  static func noDescriptor(_ code: Int32) -> TransportError {
    TransportError(.other, "the process has no file descriptor left (errno \(code)); raise the limit of open files", url: "")
  }

  static func noThread(_ code: Int32) -> TransportError {
    TransportError(.other, "the process cannot start a thread (error \(code)); raise the limit of threads", url: "")
  }

  /// The text of an error number.
  static func text(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "errno \(code)" }
    return unsafe String(cString: text)
  }

  static var stopped: TransportError {
    TransportError(.other, "the transport was shut down during the request", url: "")
  }
}
