LEVEL ?= 5

# pkg-config finds the installed Carabiner. For your own prefix, export PKG_CONFIG_PATH=PREFIX/lib/pkgconfig.
ifneq ($(MAKECMDGOALS),clean)
ifneq ($(shell $(PKG_CONFIG) --exists carabiner && echo found),found)
$(error $(PKG_CONFIG) does not find carabiner; install it, or export PKG_CONFIG_PATH=PREFIX/lib/pkgconfig)
endif
endif
CARABINER ?= $(shell $(PKG_CONFIG) --variable=command carabiner)
