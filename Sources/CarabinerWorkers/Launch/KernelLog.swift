internal import Glibc
internal import Synchronization

/// The log of the kernel, which names the instruction of a fatal signal. A worker does not catch such signals itself (`worker.42`).
///
/// Many systems let only root read it. Then addresses are unknown.
final class KernelLog: Sendable {
  static let shared = KernelLog()

  private struct State {
    /// The addresses of the last fatal signals on this machine.
    var addresses: [UInt64] = []
  }

  private static let maximumCount = 64
  /// The maximum number of lines that are read at once, and the maximum size of a line in bytes.
  private static let (maximumLines, maximumBytes) = (10_000, 8192)

  private let descriptor: Int32
  private let state = Mutex(State())

  private init() {
    descriptor = unsafe open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor >= 0 { lseek(descriptor, 0, SEEK_END) }
  }

  /// The address in the code of a process at which it got a fatal signal, as library and distance; nil if it is not known.
  func place(in maps: WorkerMaps) -> String? {
    state.withLock { state in
      read(&state)
      // Libraries have other addresses in each process.
      for index in state.addresses.indices.reversed() {
        guard let place = maps.place(of: state.addresses[index]) else { continue }
        state.addresses.remove(at: index)
        return place
      }
      return nil
    }
  }

  private func read(_ state: inout State) {
    guard descriptor >= 0 else { return }
    var line = [UInt8](repeating: 0, count: Self.maximumBytes)
    for _ in 0..<Self.maximumLines {
      let count = unsafe Glibc.read(descriptor, &line, line.count)
      // Lines that were overwritten are passed over.
      if count < 0, errno == EPIPE || errno == EINTR { continue }
      guard count > 0 else { return }
      guard let address = Self.address(in: String(decoding: line[..<count], as: UTF8.self)) else { continue }
      if state.addresses.count == Self.maximumCount { state.addresses.removeFirst() }
      state.addresses.append(address)
    }
  }

  /// The address of the instruction in a line about a fatal signal; nil in any other line.
  ///
  /// The line begins with the name of the thread, which a plugin chooses. It has at most 15 bytes, too few for what is searched here.
  static func address(in line: String) -> UInt64? {
    let segfault = /\]: segfault at [0-9a-f]+ ip ([0-9a-f]{1,16}) sp [0-9a-f]+ error [0-9a-f]/
    let trap = /\] [a-z0-9 -]+ ip:([0-9a-f]{1,16}) sp:[0-9a-f]+ error:/
    return (line.firstMatch(of: segfault) ?? line.firstMatch(of: trap)).flatMap { UInt64($0.1, radix: 16) }
  }
}
