/* A library that a plugin needs; NUMBER names the version. */
#ifdef NEEDS
int fixture_inner(void);
__attribute__((visibility("default"))) int fixture_number(void) { return fixture_inner(); }
#elif defined(INNER)
__attribute__((visibility("default"))) int fixture_inner(void) { return NUMBER; }
#else
__attribute__((visibility("default"))) int fixture_number(void) { return NUMBER; }
#endif
