extension Check {
  static let staticThreadMemory = Check(
    "SY03", level: 3, "needs no static thread-local storage",
    page: Page(
      rule: "The flag DF_STATIC_TLS is not set: thread-local variables use the general model.",
      reason: """
        A process reserves a few hundred bytes of static thread-local storage for libraries that are loaded later. All libraries
        share them. When they are used up, the next dlopen() fails: after some reloads, or on another machine.
        """,
      example: "cc -ftls-model=initial-exec -shared -fPIC -o plugin.so plugin.c",
      remedy: """
        Compile with -fPIC and leave the model to the compiler. If a static library needs it, build that library with -fPIC too.
        If speed was the reason, keep the data in the instance or in the state of the call.
        """),
    .file { trial in
      if try trial.object().needsStaticThreadMemory {
        trial.notes.fail(
          "it needs static thread-local storage (DF_STATIC_TLS); compile everything in it with -fPIC and the default TLS model")
      }
    })
}

extension Check {
  static let overwritableCode = Check(
    "SY04", level: 3, "keeps code, stacks and import tables from being overwritten",
    page: Page(
      rule: """
        The library has no text relocations, no executable stack, and no memory that is both writable and executable. It has a
        RELRO segment, and all its imports are bound when it is loaded.
        """,
      reason: """
        A library that asks for an executable stack makes all stacks of the process executable. Text relocations need writable
        code. A writable import table turns one stray write into a call of any address.
        """,
      example: "cc -shared -fPIC -z execstack -z lazy -z norelro -o plugin.so plugin.c",
      remedy: """
        cc -shared -fPIC -Wl,-z,relro,-z,now,-z,noexecstack -o plugin.so plugin.c

        In Swift: swift build -Xlinker -z -Xlinker now. Rust does it by itself. An assembler source needs
        .section .note.GNU-stack,"",@progbits
        """),
    .file { trial in
      let object = try trial.object()
      let notes = trial.notes
      notes.expect(!object.hasTextRelocations, "it has text relocations, so its code has to be writable; compile with -fPIC")
      notes.expect(!object.wantsExecutableStack, "it asks for an executable stack; link with -z noexecstack")
      notes.expect(!object.hasWritableCode, "it has a segment that is writable and executable")
      notes.expect(object.protectsImports, "it has no RELRO segment; link with -z relro")
      notes.expect(object.bindsAtOnce, "its imports are bound lazily, at their first use; link with -z now")
    })
}

extension Check {
  static let indirectFunctions = Check(
    "SY09", level: 3, "has no IFUNC resolvers",
    page: Page(
      rule: """
        The library has no IFUNC: no function with a resolver, exported or not, unless the note declares it:
        "capabilities":["ifunc"].
        """,
      reason: """
        A resolver runs during relocation, before any constructor, under the dynamic linker's lock. Functions of libc that it
        calls may not be bound yet. A comparison of the process before and after loading cannot see a file that a resolver opened
        and closed.
        """,
      example: """
        static int (*choose(void))(const void *) { FILE *cpu = fopen("/proc/cpuinfo", "r"); … return fast; }
        int digest(const void *) __attribute__((ifunc("choose")));
        """,
      remedy: """
        Choose an implementation in create(), or on first use with pthread_once() and a function pointer. If a statically linked
        library has resolvers that only ask the processor, declare them.
        """),
    .file { trial in
      guard !trial.options.capabilities.contains("ifunc") else { throw TrialNotes.Skip("it declares that it has resolvers") }
      let object = try trial.object()
      let names = object.symbols.filter { $0.isDefined && $0.isResolved }.map(\.name).sorted()
      let count = max(names.count, object.resolvedAtLoad)
      guard count > 0 else { return }
      let shown = names.isEmpty ? "" : ": \(names.prefix(3).joined(separator: ", "))"
      trial.notes.fail("it has \(count) functions with resolvers\(shown)")
    })
}
