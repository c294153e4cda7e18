/* The hash and signature functions of libcrypto only: its other headers would slow down every importer's build. */
#pragma once
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/sha.h>

/* A public key of the curve P-256 from a point in its uncompressed form; NULL if the point is not on the curve. The caller frees it.
   In C, because the parameters keep pointers to texts, which Swift would pass as temporary copies. */
static inline EVP_PKEY *CCrypto_curveKey(const unsigned char *point, size_t size) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  EVP_PKEY *key = NULL;
  char curve[] = "prime256v1";
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string("group", curve, 0),
    OSSL_PARAM_construct_octet_string("pub", (void *)point, size),
    OSSL_PARAM_construct_end(),
  };
  if (context != NULL && EVP_PKEY_fromdata_init(context) == 1) {
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  }
  EVP_PKEY_CTX_free(context);
  return key;
}
