internal import CCarabiner
internal import Logging
internal import Synchronization

/// Who a `crb_self` is: for logs, grants and counts.
final class PluginRegistry: Sendable {
  struct Member: Sendable {
    let name: String
    let grants: Set<String>
    let logger: Logger
    /// What no line of its log may show.
    let redaction: SecretRedaction
  }

  static let shared = PluginRegistry()

  private let members = Mutex<[Member]>([])

  func register(name: String, grants: Set<String>, redaction: SecretRedaction = SecretRedaction()) -> crb_self {
    members.withLock { members in
      members.append(
        Member(name: name, grants: grants, logger: Logger(label: "carabiner.plugin.\(name)"), redaction: redaction))
      return crb_self(members.count)
    }
  }

  subscript(id: crb_self) -> Member? {
    members.withLock { members in
      guard id > 0, id <= crb_self(members.count) else { return nil }
      return members[Int(id) - 1]
    }
  }
}
