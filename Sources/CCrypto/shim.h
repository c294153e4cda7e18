/* The hash functions of libcrypto only: its other headers would slow down every importer's build. */
#pragma once
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
