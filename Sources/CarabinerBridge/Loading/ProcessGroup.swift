internal import Glibc

/// The members of a process group, read from /proc.
package enum ProcessGroup {
  /// The number of live processes in the group, without its leader.
  static func members(of leader: Int32) -> Int {
    guard let folder = unsafe opendir("/proc") else { return 0 }
    defer { unsafe closedir(folder) }
    var count = 0
    // d_name is read in place: the record is only as long as the name, so a copy of the whole field would read beyond the
    // record.
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      // Only the files of members are read: there may be hundreds of other processes.
      guard let process = Int32(name), process != leader, getpgid(process) == leader else { continue }
      if let state = state(of: process), state.group == leader, state.letter != "Z" { count += 1 }
    }
    return count
  }

  /// The state and the group of a process; nil if the process is gone.
  package static func state(of process: Int32) -> (letter: Substring, group: Int32)? {
    let descriptor = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    // The program's name is in parentheses and can contain any character, so the fields are counted from the last parenthesis.
    guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = String(decoding: bytes[(end + 1)..<count], as: UTF8.self).split(separator: " ")
    guard fields.count > 2, let group = Int32(fields[2]) else { return nil }
    return (fields[0], group)
  }
}
