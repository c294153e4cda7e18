internal import CCarabiner
internal import Synchronization

/// The interned names of baggage values.
package enum BaggageKeys {
  /// How many names the process may intern.
  static let maximumKeys = 65_536
  /// How long a name may be.
  package static let maximumNameBytes = 128

  private struct State {
    var keys: [String: crb_key] = [:]
    var names: [String] = []
  }

  private static let state = Mutex(State())

  /// Whether the header calls a name well-formed: dotted, of visible ASCII characters, and not too long.
  package static func isWellFormed(_ name: String) -> Bool {
    name.contains(".") && name.utf8.count <= maximumNameBytes && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// The key of a name; 0 if the name is malformed or there are too many.
  static func key(for name: String) -> crb_key {
    guard isWellFormed(name) else { return 0 }
    return state.withLock { state in
      if let key = state.keys[name] { return key }
      guard state.names.count < maximumKeys else { return 0 }
      state.names.append(name)
      let key = crb_key(state.names.count)
      state.keys[name] = key
      return key
    }
  }

  /// The name of a key; nil if it was never given out.
  static func name(of key: crb_key) -> String? {
    state.withLock { state in
      let index = Int(key) - 1
      return state.names.indices.contains(index) ? state.names[index] : nil
    }
  }
}
