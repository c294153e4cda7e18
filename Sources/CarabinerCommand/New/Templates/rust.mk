# make          builds build/my-plugin.so
# make conform  tests it against the rules of carabiner.h
# make clean    removes all build results
CARGO ?= cargo
PKG_CONFIG ?= pkg-config
PLUGIN = build/my-plugin.so
@@carabiner@@

# Cargo.toml refers to the kit by this link, so that it contains no path of your machine. cargo decides what to rebuild.
$(PLUGIN): FORCE
	@mkdir -p build
	@ln -sfn "$$($(PKG_CONFIG) --variable=rustkit carabiner)" kit
	$(CARGO) build --release --quiet --target-dir build/cargo
	@cmp -s build/cargo/release/libinterceptor.so $@ || cp build/cargo/release/libinterceptor.so $@

conform: $(PLUGIN)
	$(CARABINER) conform --level $(LEVEL) $(CONFORM_OPTIONS) $(PLUGIN)

clean:
	rm -rf build kit
.PHONY: conform clean FORCE
