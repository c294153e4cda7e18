import CarabinerWire
import Testing

@Suite("The types of JSON values")
struct JSONValueTests {
  @Test("each accessor returns a value only for its own kind")
  func kinds() {
    let values: [JSONValue] = [nil, true, 1, "s", [0], ["k": 0]]
    #expect(values.map(\.kind) == ["null", "boolean", "number", "string", "array", "object"])
    #expect(values.map(\.isNull) == [true, false, false, false, false, false])
    #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil])
    #expect(values.map(\.int) == [nil, nil, 1, nil, nil, nil])
    #expect(values.map(\.double) == [nil, nil, 1, nil, nil, nil])
    #expect(values.map(\.string) == [nil, nil, nil, "s", nil, nil])
    #expect(values.map { $0.array?.count } == [nil, nil, nil, nil, 1, nil])
    #expect(values.map { $0.object?.count } == [nil, nil, nil, nil, nil, 1])
    #expect(Set(values).count == values.count)
  }

  @Test("subscripts return inner values and never trap")
  func subscripts() {
    let value: JSONValue = ["a": [10, ["b": 1.5]]]
    #expect(value["a"]?[1]?["b"]?.double == 1.5)
    #expect(value["a"]?[2] == nil)
    #expect(value["a"]?[-1] == nil)
    #expect(value[0] == nil)
    #expect(value["a"]?["b"] == nil)
  }
}
