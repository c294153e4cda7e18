/* What Swift does not see of SQLite: a destructor that is a number in disguise, and codes that are expressions. */
#pragma once
#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast of -1 to a function pointer. */
static inline int CSQLite_bindText(sqlite3_stmt *statement, int index, const char *bytes, int count) {
  return sqlite3_bind_text(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

static const int CSQLite_noRoomForIndex = SQLITE_IOERR_SHMSIZE;
