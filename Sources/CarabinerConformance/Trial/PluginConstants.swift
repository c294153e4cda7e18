internal import Synchronization

/// A plugin's file, and the words in its constants. They are parsed once, when a check uses them first.
final class PluginConstants: Sendable {
  let bytes: [UInt8]
  private let parse: @Sendable ([UInt8]) -> Vocabulary
  private let parsed = Mutex<Vocabulary?>(nil)

  init(of bytes: [UInt8], parse: @escaping @Sendable ([UInt8]) -> Vocabulary = { Vocabulary($0) }) {
    self.bytes = bytes
    self.parse = parse
  }

  /// The words that the plugin may look for.
  var words: Vocabulary {
    parsed.withLock { parsed in
      let words = parsed ?? parse(bytes)
      parsed = words
      return words
    }
  }
}
