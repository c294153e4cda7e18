internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ds01 = Check(
    "DS01", level: 1, "fills its tables as far as they say",
    page: Page(
      rule: """
        The size of each table covers its mandatory slots and is no larger than a table can be; there are 1 to 64 interceptors, none of
        them NULL; each has create and at least one stage, and each stage its first hook. abi_minor_required is not above abi_minor_built.
        """,
      reason: "A host reads a table as far as its size says, and calls mandatory slots without looking twice.",
      example: """
        static const crb_graphql_stage graphql = { .size = sizeof(crb_interceptor), .on_result = on_result };
        """,
      remedy: """
        static const crb_graphql_stage graphql = { .size = sizeof graphql, .on_request = on_request, .on_result = on_result };
        """),
    .loading { trial in
      let table = unsafe try trial.table()
      var review = TableReview(notes: trial.notes)
      unsafe review.size(of: table, atLeast: MemoryLayout<crb_plugin>.offset(of: \.`init`) ?? 0, "the registration table")
      let copy = unsafe InterceptorTable.copy(table, crb_plugin())
      trial.notes.expect(unsafe copy.abi_major == UInt16(CRB_ABI_MAJOR), unsafe "its table speaks ABI \(copy.abi_major)")
      trial.notes.expect(
        unsafe copy.abi_minor_required <= copy.abi_minor_built,
        unsafe "it requires minor \(copy.abi_minor_required) and was built with \(copy.abi_minor_built)")
      guard unsafe (1...RegistrationReader.maximumInterceptors).contains(copy.count), let items = unsafe copy.items else {
        return trial.notes.fail(
          unsafe "it registers \(copy.count) interceptors; 1 to \(RegistrationReader.maximumInterceptors) are allowed")
      }
      for index in unsafe 0..<Int(copy.count) {
        guard let item = unsafe items[index] else {
          trial.notes.fail("interceptor \(index) is NULL")
          continue
        }
        unsafe review.interceptor(item, index)
      }
    })
}

/// Looks at tables slot by slot.
private struct TableReview {
  /// Far more than any table will ever have.
  private static let maximumSize: UInt32 = 4096

  let notes: TrialNotes

  /// Whether a table's size covers what it has to.
  @discardableResult
  mutating func size<Table>(of table: UnsafePointer<Table>, atLeast least: Int, _ name: String) -> Bool {
    let size = unsafe UnsafeRawPointer(table).loadUnaligned(as: UInt32.self)
    notes.expect(size >= least, "the size of \(name) is \(size), and its mandatory slots end at \(least)")
    notes.expect(size <= Self.maximumSize, "the size of \(name) is \(size), which no table has; write sizeof")
    return size >= least && size <= Self.maximumSize
  }

  mutating func interceptor(_ item: UnsafePointer<crb_interceptor>, _ index: Int) {
    let word = unsafe MemoryLayout<UnsafeRawPointer>.size
    let name = "interceptor \(index)"
    guard unsafe size(of: item, atLeast: (MemoryLayout<crb_interceptor>.offset(of: \.create) ?? 0) + word, name) else { return }
    let copy = unsafe InterceptorTable.copy(item, crb_interceptor())
    notes.expect(unsafe copy.create != nil, "\(name) has no create()")
    notes.expect(unsafe copy.version != nil, "\(name) has no version")
    let hasStage = unsafe copy.graphql != nil || copy.http != nil || copy.cache != nil || copy.parser != nil
    notes.expect(hasStage, "\(name) has no stage; it can do nothing")
    if let stage = unsafe copy.graphql {
      let covers = unsafe size(of: stage, atLeast: 16 + word, "the GraphQL stage of \(name)")
      notes.expect(unsafe !covers || stage.pointee.on_request != nil, "the GraphQL stage of \(name) has no on_request")
    }
    if let stage = unsafe copy.http {
      let covers = unsafe size(of: stage, atLeast: 16 + word, "the HTTP stage of \(name)")
      notes.expect(unsafe !covers || stage.pointee.on_request != nil, "the HTTP stage of \(name) has no on_request")
    }
    if let stage = unsafe copy.cache {
      let covers = unsafe size(of: stage, atLeast: 16 + word, "the cache stage of \(name)")
      notes.expect(unsafe !covers || stage.pointee.on_read != nil, "the cache stage of \(name) has no on_read")
    }
    if let stage = unsafe copy.parser {
      let covers = unsafe size(of: stage, atLeast: 16 + word, "the parser stage of \(name)")
      notes.expect(unsafe !covers || stage.pointee.on_head != nil, "the parser stage of \(name) has no on_head")
    }
  }
}
