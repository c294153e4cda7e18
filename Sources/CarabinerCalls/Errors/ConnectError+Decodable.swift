internal import CarabinerWire
internal import FoundationEssentials

extension ConnectError: Decodable {
  private enum CodingKeys: String, CodingKey {
    case code
    case message
    case details
  }

  /// Reads the JSON of the protocol. An absent or unknown code is `unknown`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      code: Code.fromName(try container.decodeIfPresent(String.self, forKey: .code) ?? ""),
      message: try container.decodeIfPresent(String.self, forKey: .message),
      details: try container.decodeIfPresent([Detail].self, forKey: .details) ?? [])
  }
}

extension ConnectError.Detail: Decodable {
  private enum CodingKeys: String, CodingKey {
    case type
    case value
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let value = try container.decodeIfPresent(String.self, forKey: .value)
    self.init(
      type: try container.decodeIfPresent(String.self, forKey: .type) ?? "",
      payload: value.flatMap { Base64.decoded($0) }.map { Data($0) })
  }
}
