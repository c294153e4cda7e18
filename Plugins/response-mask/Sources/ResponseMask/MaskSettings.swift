/// The plugin's configuration.
struct MaskSettings: Decodable, Sendable {
  struct Rule: Decodable, Sendable {
    enum Action: String, Decodable, Sendable {
      case remove, mask
    }

    struct Unless: Decodable, Sendable {
      let header: String
      let values: [String]
    }

    let path: String
    let action: Action
    let text: String?
    let operations: [String]?
    let unless: Unless?
  }

  let rules: [Rule]
}
