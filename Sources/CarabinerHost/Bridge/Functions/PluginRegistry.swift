internal import CCarabiner
internal import Carabiner
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
    /// The store of the chain it stands in.
    fileprivate(set) var store: ApolloStore?
  }

  static let shared = PluginRegistry()

  private let members = Mutex<[Member]>([])

  func register(
    name: String, grants: Set<String>, redaction: SecretRedaction = SecretRedaction(), store: ApolloStore? = nil
  ) -> crb_self {
    members.withLock { members in
      members.append(
        Member(
          name: name, grants: grants, logger: Logger(label: "carabiner.plugin.\(name)"), redaction: redaction, store: store))
      return crb_self(members.count)
    }
  }

  /// Lets go of what belongs to the chain of an instance that is gone; its name stays for late lines of its log.
  func retire(_ id: crb_self) {
    members.withLock { members in
      guard id > 0, id <= crb_self(members.count) else { return }
      members[Int(id) - 1].store = nil
    }
  }

  subscript(id: crb_self) -> Member? {
    members.withLock { members in
      guard id > 0, id <= crb_self(members.count) else { return nil }
      return members[Int(id) - 1]
    }
  }
}
