public import CCarabiner

/// Copies of an interceptor's tables. Members beyond a table's own size are zero (rule R1).
@safe public struct InterceptorTable: @unchecked Sendable {
  // Safe: plain values. The functions and texts they point to are static data of a library that is never unmapped.

  /// The interceptor's own table.
  public let interceptor: crb_interceptor
  public let graphQL: crb_graphql_stage?
  public let http: crb_http_stage?
  public let cache: crb_cache_stage?
  public let parser: crb_parser_stage?

  /// Copies the tables of an interceptor.
  public init(_ table: UnsafePointer<crb_interceptor>) {
    unsafe interceptor = unsafe Self.copy(table, crb_interceptor())
    graphQL = unsafe interceptor.graphql.map { unsafe Self.copy($0, crb_graphql_stage()) }
    http = unsafe interceptor.http.map { unsafe Self.copy($0, crb_http_stage()) }
    cache = unsafe interceptor.cache.map { unsafe Self.copy($0, crb_cache_stage()) }
    unsafe parser = unsafe interceptor.parser.map { unsafe Self.copy($0, crb_parser_stage()) }
  }

  /// Copies a table up to its own size. The rest keeps the values of `empty`.
  public static func copy<Table>(_ table: UnsafePointer<Table>, _ empty: Table) -> Table {
    var copy = empty
    let size = unsafe Int(UnsafeRawPointer(table).loadUnaligned(as: UInt32.self))
    unsafe withUnsafeMutableBytes(of: &copy) { target in
      unsafe target.copyMemory(
        from: UnsafeRawBufferPointer(start: UnsafeRawPointer(table), count: min(size, MemoryLayout<Table>.size)))
    }
    return copy
  }
}
