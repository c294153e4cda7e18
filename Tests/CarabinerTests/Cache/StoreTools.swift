import Carabiner
import CarabinerWire
import FoundationEssentials

extension DynamicOperation {
  /// A query with these variables.
  static func query(_ document: String, name: String? = nil, _ variables: JSONObject = [:]) -> DynamicOperation {
    DynamicOperation(document: document, operationName: name, variables: variables)
  }
}

extension ApolloStore {
  /// Writes the response `{"data": …}` of an operation.
  func publish(_ data: String, for operation: DynamicOperation) async throws {
    let body = try ResponseBody(Data(#"{"data":\#(data)}"#.utf8))
    if let records = ApolloStore.records(of: body, operation: operation) { try await publish(records: records) }
  }

  /// Reads the data of an operation from the store; nil if some of it is missing.
  func data(_ operation: DynamicOperation) async throws -> JSONValue? {
    try await load(operation)?.data
  }

  /// A record as a JSON object; nil if there is none.
  func record(_ key: String) async throws -> JSONValue? {
    guard let record = try await cache.records(forKeys: [key])[0] else { return nil }
    var object = JSONObject()
    for (name, value) in record.fields.sorted(by: { $0.key < $1.key }) {
      object[name] = try JSONValue(parsing: [UInt8](value))
    }
    return .object(object)
  }

  /// The keys of all records, sorted.
  func keys() async throws -> [String] { try await cache.keys(matching: nil).sorted() }
}

func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }
