# make          builds build/my-plugin.so
# make conform  tests it against the rules of carabiner.h
# make clean    removes all build results
CC ?= cc
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
PLUGIN = build/my-plugin.so
@@carabiner@@

# With hidden visibility, the entry is the only exported symbol.
$(PLUGIN): plugin.c Makefile
	@mkdir -p build
	$(CC) -std=gnu11 -Wall -Wextra -pedantic -fPIC -fvisibility=hidden $$($(PKG_CONFIG) --cflags carabiner) $(CFLAGS) \
	  -shared -Wl,-z,relro,-z,now,-z,noexecstack $$($(PKG_CONFIG) --libs carabiner) $(LDFLAGS) -o $@ plugin.c

conform: $(PLUGIN)
	$(CARABINER) conform --level $(LEVEL) $(CONFORM_OPTIONS) $(PLUGIN)

clean:
	rm -rf build
.PHONY: conform clean
