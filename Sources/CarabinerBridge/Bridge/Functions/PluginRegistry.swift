internal import CCarabiner
internal import Carabiner
internal import CarabinerManifest
internal import Logging
internal import Synchronization

/// The plugin that a `crb_self` refers to: for logs, grants and counts.
///
/// An id is a random number that cannot be guessed, with the number of its slot in the last bits.
final class PluginRegistry: Sendable {
  struct Member: Sendable {
    let name: String
    let grants: Set<String>
    let logger: Logger
    /// The secrets that no line of its log may show.
    let redaction: SecretRedaction
    /// Counts the buffers it holds.
    let account: BufferAccount
    /// The requests that it has under way.
    let fetches = FetchAccount()
    /// The plugin whose code uses the id.
    fileprivate let subject: CrashSubject
    /// The digest of the library that was given the id.
    fileprivate let library: String
    /// The store of its chain.
    fileprivate(set) var store: ApolloStore?
    /// Time and network of its generation; nil once its instance is gone.
    fileprivate(set) var environment: HostEnvironment?
  }

  private struct Slot {
    var id: crb_self
    var member: Member
  }

  private struct State {
    var slots: [Slot] = []
    /// The slots whose instances are gone, the longest gone first.
    var retired: ArraySlice<Int> = []
  }

  /// How many bits of an id number its slot.
  private static let slotBits: crb_self = 16
  /// How many ids there may be at once.
  private static let maximumMembers = 1 << Int(slotBits)
  /// How many names of instances that are gone are kept for late lines of their logs.
  static let keptNames = 1024

  static let shared = PluginRegistry()

  private let state = Mutex(State())

  /// An id for a library or an instance of one; 0 if there are too many.
  ///
  /// - Parameters:
  ///   - subject: The plugin whose code uses it.
  ///   - library: The digest of the library that gets it.
  func register(_ options: PluginInstance.Options, subject: CrashSubject, library: String) -> crb_self {
    let member = Member(
      name: options.name, grants: options.grants, logger: Logger(label: "carabiner.plugin.\(options.name)"),
      redaction: options.redaction, account: BufferAccount(limit: options.maximumBufferBytes), subject: subject,
      library: library, store: options.store, environment: options.environment)
    // The system's generator cannot be predicted.
    let secret = crb_self.random(in: 1..<1 << (64 - Self.slotBits)) << Self.slotBits
    return state.withLock { state in
      let isFull = state.slots.count == Self.maximumMembers
      if state.retired.count > Self.keptNames || isFull {
        guard let index = state.retired.popFirst() else { return 0 }
        state.slots[index] = Slot(id: secret | crb_self(index), member: member)
        return secret | crb_self(index)
      }
      state.slots.append(Slot(id: secret | crb_self(state.slots.count), member: member))
      return secret | crb_self(state.slots.count - 1)
    }
  }

  /// Releases the values of an ended instance that belong to its chain. The name is kept for late lines of its log.
  func retire(_ id: crb_self) {
    let fetches = state.withLock { state -> FetchAccount? in
      guard let index = Self.index(of: id, in: state) else { return nil }
      state.slots[index].member.store = nil
      state.slots[index].member.environment = nil
      state.retired.append(index)
      return state.slots[index].member.fetches
    }
    fetches?.close()
  }

  /// The plugin with this id, if the code that uses it belongs to the library that received it; nil otherwise.
  ///
  /// On a plugin's own threads, code of another library cannot be distinguished from its own. There only the id is checked.
  func caller(_ id: crb_self) -> Member? {
    let member = state.withLock { state in Self.index(of: id, in: state).map { state.slots[$0].member } }
    guard let member else { return nil }
    let current = CrashSubject.current
    return current.word == 0 || current.word == member.subject.word || current.isOf(library: member.library) ? member : nil
  }

  private static func index(of id: crb_self, in state: borrowing State) -> Int? {
    let index = Int(id & (1 << slotBits - 1))
    return state.slots.indices.contains(index) && state.slots[index].id == id ? index : nil
  }
}
