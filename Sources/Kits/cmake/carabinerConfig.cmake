# Plugins in C and C++ link carabiner::carabiner:
#
#     find_package(carabiner 1.0 REQUIRED)
#     add_library(my-plugin MODULE plugin.c)
#     target_link_libraries(my-plugin PRIVATE carabiner::carabiner)
#     set_target_properties(my-plugin PROPERTIES PREFIX "" C_STANDARD 11 C_VISIBILITY_PRESET hidden)
#
# For C++: CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON.
get_filename_component(carabiner_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(carabiner_COMMAND "${carabiner_PREFIX}/bin/carabiner")
set(carabiner_RUST_KIT "${carabiner_PREFIX}/share/carabiner/rust")
set(carabiner_SWIFT_KIT "${carabiner_PREFIX}/share/carabiner/swift")

if(NOT TARGET carabiner::carabiner)
  add_library(carabiner::carabiner INTERFACE IMPORTED)
  set_target_properties(carabiner::carabiner PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${carabiner_PREFIX}/include"
    # Without this option, g++ shares the kit's static variables between plugins.
    INTERFACE_COMPILE_OPTIONS "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>"
    # A plugin exports only its entry, and its import tables are read-only once it is loaded.
    INTERFACE_LINK_OPTIONS
      "LINKER:--version-script=${carabiner_PREFIX}/share/carabiner/plugin.map;LINKER:-z,relro,-z,now,-z,noexecstack")
endif()
