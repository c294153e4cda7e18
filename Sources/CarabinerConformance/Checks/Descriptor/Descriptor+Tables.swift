internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let filledTables = Check(
    "DS01", level: 1, "fills the mandatory slots of its tables",
    page: Page(
      rule: """
        The size of each table covers its mandatory slots and is not larger than any table can be. There are 1 to 64 interceptors,
        and none of them is NULL. Each interceptor has create and at least one stage, and each stage has its first hook.
        abi_minor_required is not above abi_minor_built.
        """,
      reason: "A host reads a table up to its size, and calls mandatory slots without a further check.",
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
      trial.notes.expect(unsafe copy.abi_major == UInt16(CRB_ABI_MAJOR), unsafe "its table uses ABI \(copy.abi_major)")
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

/// Checks tables slot by slot.
private struct TableReview {
  /// The maximum size of a valid table, in bytes.
  private static let maximumSize: UInt32 = 4096

  let notes: TrialNotes

  /// Checks that a table's size includes its mandatory slots.
  @discardableResult
  mutating func size<Table>(of table: UnsafePointer<Table>, atLeast least: Int, _ name: String) -> Bool {
    let size = unsafe UnsafeRawPointer(table).loadUnaligned(as: UInt32.self)
    notes.expect(size >= least, "the size of \(name) is \(size), and its mandatory slots end at \(least)")
    notes.expect(size <= Self.maximumSize, "the size of \(name) is \(size), which is too large for a table; write sizeof")
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
    notes.expect(hasStage, "\(name) has no stage; add at least one")
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

extension Check {
  static let staticTables = Check(
    "DS06", level: 5, "keeps its tables in its own static memory",
    page: Page(
      rule: """
        The registration table, and all tables, texts and functions that it points to, lie in the segments of the library.
        Anything else is a warning. Swift's kit makes the tables when the library registers, so in Swift memory that is never
        freed is accepted.
        """,
      reason: """
        A host uses these addresses until the process ends. Memory of a stack or of another library may be gone by then.
        """,
      example: """
        const crb_plugin *crb_entry_v1(const crb_host *h) { crb_plugin table = { … }; return memcpy(malloc(sizeof table), &table, sizeof table); }
        """,
      remedy: "static const crb_plugin table = { … };      /* and static const for all it points to */"),
    .loading { trial in
      let table = unsafe try trial.table()
      let isSwift = (try? SharedObject(trial.bytes))?.needed.contains { $0.hasPrefix("libswiftCore") } ?? false
      let entry = unsafe unsafeBitCast(try trial.entry(), to: UnsafeRawPointer.self)
      let watch = unsafe AddressReview(notes: trial.notes, inside: entry, mayUseHeap: isSwift)
      let plugin = unsafe InterceptorTable.copy(table, crb_plugin())
      unsafe watch.look(table, "the registration table")
      unsafe watch.look(plugin.items, "the list of interceptors")
      for item in unsafe trial.items(of: table) {
        let copy = unsafe item.table
        let id = unsafe trial.text(copy.id) ?? "an interceptor"
        let parts: [(String, UnsafeRawPointer?)] = unsafe [
          ("the interceptor", UnsafeRawPointer(item.pointer)), ("the id", UnsafeRawPointer(copy.id)),
          ("the version", UnsafeRawPointer(copy.version)),
          ("the name", UnsafeRawPointer(copy.name)), ("the vendor", UnsafeRawPointer(copy.vendor)),
          ("the url", UnsafeRawPointer(copy.url)),
          ("the config_schema", UnsafeRawPointer(copy.config_schema)), ("the GraphQL stage", UnsafeRawPointer(copy.graphql)),
          ("the HTTP stage", UnsafeRawPointer(copy.http)), ("the cache stage", UnsafeRawPointer(copy.cache)),
          ("the parser stage", UnsafeRawPointer(copy.parser)),
          ("create()", copy.create.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("validate()", copy.validate.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("destroy()", copy.destroy.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("drain()", copy.drain.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("extension()", copy.extension.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
        ]
        for index in unsafe parts.indices { unsafe watch.look(parts[index].1, "\(parts[index].0) of \(id)") }
        for stage in unsafe StageHooks.all(of: InterceptorTable(item.pointer)) {
          unsafe watch.look(stage.code, "the first hook of the \(stage.kind.rawValue) stage of \(id)")
        }
      }
    })
}

/// Determines the kind of memory that an address is in.
@safe private struct AddressReview {
  let notes: TrialNotes
  let inside: UnsafeRawPointer
  let mayUseHeap: Bool

  func look(_ address: UnsafeRawPointer?, _ name: String) {
    guard let address = unsafe address else { return }
    switch unsafe Int(CTestHost_place(inside, address)) {
    case CTESTHOST_SAME: break
    case CTESTHOST_ON_STACK: notes.warn("\(name) is on a stack")
    case CTESTHOST_ON_HEAP: if !mayUseHeap { notes.warn("\(name) is in memory that was allocated; make it static") }
    case CTESTHOST_OTHER: notes.warn("\(name) is in another library")
    default: notes.warn("\(name) is at an address that is not mapped")
    }
  }
}
