# make          builds build/my-plugin.so
# make conform  tests it against the rules of carabiner.h
# make clean    removes all build results
CXX ?= c++
CXXFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
PLUGIN = build/my-plugin.so
@@carabiner@@

# With hidden visibility, the entry is the only exported symbol.
$(PLUGIN): plugin.cpp Makefile
	@mkdir -p build
	$(CXX) -std=c++17 -Wall -Wextra -pedantic -fPIC -fvisibility=hidden -fvisibility-inlines-hidden $(NOT_UNIQUE) \
	  $$($(PKG_CONFIG) --cflags carabiner) $(CXXFLAGS) \
	  -shared -Wl,-z,relro,-z,now,-z,noexecstack $$($(PKG_CONFIG) --libs carabiner) $(LDFLAGS) -o $@ plugin.cpp

# Without this option, g++ shares the kit's static variables between plugins. clang++ does not, and lacks the option.
NOT_UNIQUE = $(shell $(CXX) -fno-gnu-unique -x c++ -fsyntax-only /dev/null 2>/dev/null && echo -fno-gnu-unique)

conform: $(PLUGIN)
	$(CARABINER) conform --level $(LEVEL) $(CONFORM_OPTIONS) $(PLUGIN)

clean:
	rm -rf build
.PHONY: conform clean
