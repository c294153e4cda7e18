/// A name or an index in the path of a value.
struct TapeKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) { self.init(index: intValue) }

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }
}
