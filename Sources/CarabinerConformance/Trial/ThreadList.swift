internal import CTestHost
internal import Glibc

/// A thread of this process, from /proc.
struct ThreadList {
  struct Thread: Hashable {
    let number: Int
    let name: String
    let blocksSignals: Bool

    var isOfTheTestHost: Bool { name == TestHostThread.name }
    /// Whether it belongs to the pool that runs Swift tasks for the whole process; known only of threads started since the pool is watched.
    var isOfThePool: Bool { CTestHost_isOfPool(Int32(number)) != 0 }
  }

  /// The threads, after those that are ending have ended.
  static var now: [Thread] {
    // A joined thread stays in the list for a moment.
    var list = read()
    for _ in 0..<10 {
      usleep(20_000)
      let again = read()
      if again.count == list.count { return again }
      list = again
    }
    return list
  }

  private static func read() -> [Thread] {
    guard let folder = unsafe opendir("/proc/self/task") else { return [] }
    defer { unsafe closedir(folder) }
    var threads: [Thread] = []
    // d_name is read in place: the record is only as long as the name, so a copy of the whole field would read beyond the
    // record.
    while let entry = unsafe readdir(folder) {
      let text = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let number = Int(text), let name = ProcessState.text(of: "/proc/self/task/\(number)/comm"),
        let status = ProcessState.text(of: "/proc/self/task/\(number)/status")
      else { continue }
      let blocked = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }?.split(separator: "\t").last ?? "0"
      // SIGHUP, SIGINT, SIGTERM, SIGCHLD: signals to processes, not to threads for their own faults.
      let wanted: UInt64 = 1 << 0 | 1 << 1 | 1 << 14 | 1 << 16
      threads.append(
        Thread(
          number: number, name: String(name.prefix { $0 != "\n" }),
          blocksSignals: (UInt64(blocked, radix: 16) ?? 0) & wanted == wanted))
    }
    return threads.sorted { $0.number < $1.number }
  }
}
