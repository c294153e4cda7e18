internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerWire
internal import Foundation
internal import Logging

/// The format of log lines.
enum LogFormat: String, Sendable, CaseIterable, ExpressibleByArgument {
  /// For people: time, level, logger, message, and the fields as `name=value`.
  case text
  /// For programs: one JSON object per line, with the fields beside `time`, `level`, `logger` and `message`.
  case json

  /// Reserved names. A field with such a name is prefixed with `field_`.
  private static let ownNames: Set<String> = ["time", "level", "logger", "message"]

  /// One line with its line break. Characters that act on a terminal or begin another line are escaped, and secrets are redacted.
  func line(_ level: Logger.Level, _ label: String, _ message: String, _ fields: Logger.Metadata, at time: Date) -> String {
    let fields = fields.sorted { $0.key < $1.key }
    let stamp = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    switch self {
    case .text:
      let pairs = fields.map { " \($0.key)=\(Self.quoted(Terminal.redacted($0.value.description)))" }.joined()
      return PrintableText.escaping("\(stamp) \(level.rawValue) \(label): \(Terminal.redacted(message))\(pairs)") + "\n"
    case .json:
      var object: JSONObject = [
        "time": .string(stamp), "level": .string(level.rawValue), "logger": .string(label),
        "message": .string(Terminal.redacted(message)),
      ]
      for (name, value) in fields { object[Self.ownNames.contains(name) ? "field_\(name)" : name] = Self.json(value) }
      return PrintableText.escaping(JSONValue.object(object).description) + "\n"
    }
  }

  /// The line that reports an address once connections are accepted there.
  func listening(_ address: String) -> String {
    switch self {
    case .text: "listening \(address)"
    case .json:
      String(line(.notice, "carabiner.serve", "listening", ["address": "\(address)"], at: Date()).dropLast())
    }
  }

  private static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") }
    return isPlain ? text : text.debugDescription
  }

  private static func json(_ value: Logger.MetadataValue) -> JSONValue {
    switch value {
    case .string(let text): .string(Terminal.redacted(text))
    case .stringConvertible(let isTrue as Bool): .bool(isTrue)
    case .stringConvertible(let number as any BinaryInteger): .count(number)
    case .stringConvertible(let number as Double): JSONNumber(number).map { .number($0) } ?? .null
    case .stringConvertible(let other): .string(Terminal.redacted(other.description))
    case .array(let values): .array(values.map { json($0) })
    case .dictionary(let values):
      .object(values.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = json($1.value) })
    }
  }
}
