/// Puts references back where what they stand for would be shown.
///
/// A plugin knows the secrets of its configuration and may repeat one in a message of its own, most likely where it says that
/// the secret is wrong. The host shows that message, so it looks first.
package struct SecretRedaction: Sendable, Hashable {
  /// A secret, and what is shown instead.
  struct Pair: Sendable, Hashable {
    let value: String
    let reference: String
  }

  private let pairs: [Pair]

  /// Nothing is secret.
  package init() { pairs = [] }

  init(_ pairs: [Pair]) {
    // The longest first: a secret may be part of another.
    self.pairs = pairs.filter { !$0.value.isEmpty }.sorted { $0.value.utf8.count > $1.value.utf8.count }
  }

  /// The same, and one more text that is not to be shown.
  package func hiding(_ value: String, behind reference: String) -> SecretRedaction {
    SecretRedaction(pairs + [Pair(value: value, reference: reference)])
  }

  /// The same, and all that another one hides.
  package func joined(with other: SecretRedaction) -> SecretRedaction { SecretRedaction(pairs + other.pairs) }

  /// The text without secrets.
  package func callAsFunction(_ text: String) -> String {
    pairs.reduce(text) { $0.replacing($1.value, with: $1.reference) }
  }
}
