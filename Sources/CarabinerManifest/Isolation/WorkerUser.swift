internal import Glibc

/// The user of workers if the host is root.
package enum WorkerUser: Sendable, Hashable, CustomStringConvertible {
  /// A user of this system.
  case name(String)
  /// A user and a group by their numbers. They need not exist.
  case numbers(user: UInt32, group: UInt32)

  /// Reads `nobody` or `65534:65534`; nil if the text is neither, or if it is root.
  init?(_ text: String) {
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
    if numbers.count == 2 {
      // The highest number means "unchanged" to the kernel.
      guard let user = Self.number(numbers[0]), let group = Self.number(numbers[1]), user != 0, group != 0 else { return nil }
      self = .numbers(user: user, group: group)
    } else {
      guard text != "root", text.wholeMatch(of: /[a-z_][a-z0-9_-]{0,31}/) != nil else { return nil }
      self = .name(text)
    }
  }

  private static func number(_ digits: Substring) -> UInt32? {
    guard !digits.isEmpty, digits.utf8.count <= 10, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return UInt32(digits).flatMap { $0 == .max ? nil : $0 }
  }

  /// The numbers of the user and of its group; nil if this system has no such user, or if the user is root.
  package var ids: (user: UInt32, group: UInt32)? {
    switch self {
    case .numbers(let user, let group): return (user, group)
    case .name(let name):
      guard let entry = unsafe getpwnam(name) else { return nil }
      let ids = unsafe (user: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
      return ids.user == 0 ? nil : ids
    }
  }

  package var description: String {
    switch self {
    case .name(let name): name
    case .numbers(let user, let group): "\(user):\(group)"
    }
  }
}
