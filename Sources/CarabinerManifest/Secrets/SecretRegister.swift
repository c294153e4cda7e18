internal import Synchronization

/// What no output of the process may show: the secrets of the manifests in use, and of the last ones that were.
///
/// Late messages of a generation that is gone may still hold its secrets. Kept for ever, they would cost every line of the log.
package final class SecretRegister: Sendable {
  /// Of how many manifests that are no longer in use the secrets stay hidden.
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

  /// A register in which nothing is hidden.
  package init(former: Int = SecretRegister.defaultFormer) { maximumFormer = former }

  /// Hides secrets for as long as the value that is returned lives, and a while longer.
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

  /// How many texts are hidden.
  package var count: Int { state.withLock(\.all.count) }

  /// The text without what is secret.
  package func callAsFunction(_ text: String) -> String { state.withLock(\.all)(text) }
}

/// Secrets that are hidden while this lives.
package final class HiddenSecrets: Sendable {
  private let number: Int
  private let register: SecretRegister

  fileprivate init(_ number: Int, _ register: SecretRegister) {
    self.number = number
    self.register = register
  }

  deinit { register.end(number) }
}
