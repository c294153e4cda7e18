extension Check {
  static let sy04 = Check(
    "SY04", level: 3, "keeps code, stacks and import tables from being overwritten",
    page: Page(
      rule: """
        No text relocations, no executable stack, no memory that is writable and executable; a RELRO segment, and all imports bound when
        the library is loaded.
        """,
      reason: """
        One library that asks for an executable stack makes the stacks of the whole process executable. Text relocations need code that
        can be written to. An import table that stays writable turns one stray write into a call of anything.
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
      notes.expect(object.bindsAtOnce, "its imports are bound one by one as they are used; link with -z now")
    })
}
