/// The names by which everything in a process gets and gives back memory.
enum AllocatorSymbol {
  private static let names: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign", "aligned_alloc", "posix_memalign", "valloc",
    "pvalloc",
    "malloc_usable_size", "strdup", "strndup", "sbrk", "brk", "mmap", "munmap", "mremap", "__libc_malloc", "__libc_free",
    "__malloc_hook", "__free_hook",
  ]
  /// C++'s operators new and delete, however they are overloaded.
  private static let prefixes = ["_Znw", "_Zna", "_Zdl", "_Zda"]

  /// Whether a symbol is one of them.
  static func contains(_ name: String) -> Bool { names.contains(name) || prefixes.contains { name.hasPrefix($0) } }
}
