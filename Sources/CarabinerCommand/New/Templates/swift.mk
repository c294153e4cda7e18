# make          builds build/my-plugin.so
# make conform  tests it against the rules of carabiner.h
# make clean    removes all build results
SWIFT ?= swift
# For a plugin that contains the Swift libraries: make SWIFT_FLAGS=--static-swift-stdlib
SWIFT_FLAGS ?=
# For the note. A host refuses a plugin that was built for other Swift libraries than its own.
SWIFT_VERSION := $(shell $(SWIFT) --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*[0-9]\).*/\1/p')
PKG_CONFIG ?= pkg-config
PLUGIN = build/my-plugin.so
@@carabiner@@

# Package.swift refers to the kit by this link, so that it contains no path of your machine. swift decides what to rebuild. The import
# tables are read-only after loading. The plugin has no library search path: it uses the Swift libraries of the host.
$(PLUGIN): FORCE
	@mkdir -p build
	@ln -sfn "$$($(PKG_CONFIG) --variable=swiftkit carabiner)" kit
	$(SWIFT) build -c release --quiet $(SWIFT_FLAGS) $(if $(SWIFT_VERSION),-Xcc -DCRB_SWIFT_VERSION=$(SWIFT_VERSION)) -Xlinker -z -Xlinker now \
	  --disable-local-rpath -Xswiftc -no-toolchain-stdlib-rpath --product MyPlugin_1_0_0
	@cmp -s .build/release/libMyPlugin_1_0_0.so $@ || cp .build/release/libMyPlugin_1_0_0.so $@

conform: $(PLUGIN)
	$(CARABINER) conform --level $(LEVEL) $(CONFORM_OPTIONS) $(PLUGIN)

clean:
	rm -rf build .build kit
.PHONY: conform clean FORCE
