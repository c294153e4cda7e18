import Carabiner
import CarabinerSQLite
import Foundation

/// Writes a number into ten records, then the next number, and so on until it is killed.
@main
enum StoreWriter {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let first = Int(arguments[2]), let count = Int(arguments[3]) else {
      throw StoreError(.database, "usage: StoreWriter PATH FIRST COUNT")
    }
    let store = ApolloStore(cache: try SQLiteNormalizedCache(path: arguments[1]))
    for number in first..<first + count {
      let value = Data(String(repeating: "1", count: 1 + number % 500).utf8)
      let records = (0..<10).map { Record(key: "T:\($0)", fields: ["number": Data("\(number)".utf8), "long": value]) }
      try await store.publish(records: RecordSet(records))
      FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }
  }
}
