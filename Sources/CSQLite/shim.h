/* Functions for the parts of SQLite that Swift cannot import: a destructor that is a cast number, and codes that are expressions. */
#pragma once
#include <sqlite3.h>
#include <string.h>

/* SQLITE_TRANSIENT is a cast of -1 to a function pointer. */
static inline int CSQLite_bindText(sqlite3_stmt *statement, int index, const char *bytes, int count) {
  return sqlite3_bind_text(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

/* Compares in place. Most writes write the value that is already there, and copying each field would be most of their cost. */
static inline int CSQLite_columnIs(sqlite3_stmt *statement, int column, const void *bytes, int count) {
  const void *text = sqlite3_column_text(statement, column);
  return text && sqlite3_column_bytes(statement, column) == count && (count == 0 || memcmp(text, bytes, (size_t)count) == 0);
}

static const int CSQLite_noRoomForIndex = SQLITE_IOERR_SHMSIZE;
