# make          builds build/my-plugin.so
# make conform  tests it against the rules of carabiner.h
# make clean    removes what was built
SWIFT ?= swift
PKG_CONFIG ?= pkg-config
PLUGIN = build/my-plugin.so
@@carabiner@@

# Package.swift names the kit by this link, so that no path of your machine is in it; swift knows what is up to date. The import tables
# are to be read-only once the plugin is loaded. It has no search path for libraries: those of Swift are the host's.
$(PLUGIN): FORCE
	@mkdir -p build
	@ln -sfn "$$($(PKG_CONFIG) --variable=swiftkit carabiner)" kit
	$(SWIFT) build -c release --quiet -Xlinker -z -Xlinker now \
	  --disable-local-rpath -Xswiftc -no-toolchain-stdlib-rpath --product MyPlugin_1_0_0
	@cmp -s .build/release/libMyPlugin_1_0_0.so $@ || cp .build/release/libMyPlugin_1_0_0.so $@

conform: $(PLUGIN)
	$(CARABINER) conform --level $(LEVEL) $(CONFORM_OPTIONS) $(PLUGIN)

clean:
	rm -rf build .build kit
.PHONY: conform clean FORCE
