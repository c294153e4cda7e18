/* Of libcrypto only what hashes; its other headers would cost every importer their parsing. */
#pragma once
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
