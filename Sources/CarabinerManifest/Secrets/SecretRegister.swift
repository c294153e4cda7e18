internal import Synchronization

/// The secrets that the process must not print: those of the manifests in use, and of the latest former manifests.
///
/// Late messages of a former generation may contain its secrets. Only a limited number of former manifests is kept, because each
/// secret slows down every log line.
package final class SecretRegister: Sendable {
  /// The number of former manifests whose secrets stay hidden.
  package static let defaultFormer = 16

  private struct State {
    var next = 0
    var current: [Int: SecretRedaction] = [:]
    var former: ArraySlice<SecretRedaction> = []
    var all = SecretRedaction()

    mutating func collect() {
      all = (Array(current.values) + former).reduce(SecretRedaction()) { $0.joined(with: $1) }
    }
  }

  private let maximumFormer: Int
  private let state = Mutex(State())

  /// A register without secrets.
  package init(former: Int = SecretRegister.defaultFormer) { maximumFormer = former }

  /// Hides secrets while the returned value lives, and afterwards until enough other manifests have ended.
  package func hide(_ secrets: SecretRedaction) -> HiddenSecrets {
    let number = state.withLock { state in
      defer { state.next += 1 }
      state.current[state.next] = secrets
      state.all = state.all.joined(with: secrets)
      return state.next
    }
    return HiddenSecrets(number, self)
  }

  fileprivate func end(_ number: Int) {
    state.withLock { state in
      guard let secrets = state.current.removeValue(forKey: number) else { return }
      state.former.removeAll { $0 == secrets }
      state.former.append(secrets)
      if state.former.count > maximumFormer { state.former.removeFirst() }
      state.collect()
    }
  }

  /// The number of hidden secrets.
  package var count: Int { state.withLock(\.all.count) }

  /// The text with secrets replaced by their references.
  package func callAsFunction(_ text: String) -> String { state.withLock(\.all)(text) }
}

/// Hides secrets while it lives, see ``SecretRegister/hide(_:)``.
package final class HiddenSecrets: Sendable {
  private let number: Int
  private let register: SecretRegister

  fileprivate init(_ number: Int, _ register: SecretRegister) {
    self.number = number
    self.register = register
  }

  deinit { register.end(number) }
}
