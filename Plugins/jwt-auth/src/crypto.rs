//! Public keys and signatures, by libcrypto. This is the only module with `unsafe` code.

use std::ffi::{c_int, c_long, c_void};
use std::ptr::null_mut;

/// The algorithms of RFC 7518 and RFC 8037 that are accepted. HMAC and `none` are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub const ALL: [Algorithm; 3] = [Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa];

    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Rs256 => "RS256",
            Algorithm::Es256 => "ES256",
            Algorithm::EdDsa => "EdDSA",
        }
    }

    pub fn named(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// Opaque objects of libcrypto.
#[repr(C)]
struct Pkey(c_void);
#[repr(C)]
struct Context(c_void);
#[repr(C)]
struct Digest(c_void);

#[link(name = "crypto")]
extern "C" {
    fn d2i_PUBKEY(target: *mut *mut Pkey, bytes: *mut *const u8, length: c_long) -> *mut Pkey;
    fn EVP_PKEY_free(key: *mut Pkey);
    fn EVP_MD_CTX_new() -> *mut Context;
    fn EVP_MD_CTX_free(context: *mut Context);
    fn EVP_sha256() -> *const Digest;
    fn EVP_DigestVerifyInit(
        context: *mut Context,
        key_context: *mut *mut c_void,
        digest: *const Digest,
        engine: *mut c_void,
        key: *mut Pkey,
    ) -> c_int;
    fn EVP_DigestVerify(
        context: *mut Context,
        signature: *const u8,
        signature_length: usize,
        data: *const u8,
        data_length: usize,
    ) -> c_int;
    fn ERR_clear_error();
}

/// A public key. Its kind decides the algorithm, whatever a token says.
#[derive(Debug)]
pub struct PublicKey {
    key: *mut Pkey,
    algorithm: Algorithm,
}

// SAFETY: libcrypto counts references atomically, and verification only reads the key.
unsafe impl Send for PublicKey {}
unsafe impl Sync for PublicKey {}

impl Drop for PublicKey {
    fn drop(&mut self) {
        // SAFETY: made by d2i_PUBKEY, and freed once.
        unsafe { EVP_PKEY_free(self.key) }
    }
}

impl PublicKey {
    /// An RSA key of 2,048 to 8,192 bits for RS256.
    pub fn rsa(modulus: &[u8], exponent: &[u8]) -> Option<PublicKey> {
        let modulus = without_zeros(modulus);
        let exponent = without_zeros(exponent);
        let bits = modulus.len() * 8 - modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
        let is_odd = |number: &[u8]| number.last().is_some_and(|byte| byte & 1 == 1);
        if !(2048..=8192).contains(&bits) || exponent.len() > 4 || exponent == [1] || !is_odd(exponent) || !is_odd(modulus) {
            return None;
        }
        let numbers = element(0x30, &[integer(modulus), integer(exponent)].concat());
        PublicKey::decode(Algorithm::Rs256, b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00", &numbers)
    }

    /// A point on P-256 for ES256. libcrypto checks that it is on the curve.
    pub fn p256(x: &[u8], y: &[u8]) -> Option<PublicKey> {
        if x.len() != 32 || y.len() != 32 {
            return None;
        }
        let identifiers = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
        PublicKey::decode(Algorithm::Es256, identifiers, &[&[4], x, y].concat())
    }

    /// An Ed25519 key for EdDSA.
    pub fn ed25519(x: &[u8]) -> Option<PublicKey> {
        if x.len() != 32 {
            return None;
        }
        PublicKey::decode(Algorithm::EdDsa, b"\x06\x03\x2b\x65\x70", x)
    }

    /// Makes a SubjectPublicKeyInfo (RFC 5280) and lets libcrypto read it.
    fn decode(algorithm: Algorithm, identifiers: &[u8], key: &[u8]) -> Option<PublicKey> {
        let bits = element(0x03, &[&[0], key].concat());
        let info = element(0x30, &[element(0x30, identifiers), bits].concat());
        let mut start = info.as_ptr();
        // SAFETY: libcrypto reads `info` only, and only during the call.
        let key = unsafe {
            let key = d2i_PUBKEY(null_mut(), &mut start, c_long::try_from(info.len()).ok()?);
            ERR_clear_error();
            key
        };
        (!key.is_null()).then_some(PublicKey { key, algorithm })
    }

    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Whether this is the key's signature of the data, in the form of RFC 7518.
    pub fn has_signed(&self, data: &[u8], signature: &[u8]) -> bool {
        let encoded;
        let signature = match self.algorithm {
            Algorithm::Rs256 => signature,
            Algorithm::EdDsa if signature.len() == 64 => signature,
            Algorithm::Es256 if signature.len() == 64 => {
                let numbers = [integer(&signature[..32]), integer(&signature[32..])].concat();
                encoded = element(0x30, &numbers);
                &encoded[..]
            }
            _ => return false,
        };
        // SAFETY: the context is freed here, the key lives longer than it, and the slices are only read during the calls.
        unsafe {
            let context = EVP_MD_CTX_new();
            if context.is_null() {
                return false;
            }
            let digest = if self.algorithm == Algorithm::EdDsa { std::ptr::null() } else { EVP_sha256() };
            let is_good = EVP_DigestVerifyInit(context, null_mut(), digest, null_mut(), self.key) == 1
                && EVP_DigestVerify(context, signature.as_ptr(), signature.len(), data.as_ptr(), data.len()) == 1;
            EVP_MD_CTX_free(context);
            // The queue belongs to the thread, which the host uses for others too.
            ERR_clear_error();
            is_good
        }
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|byte| **byte == 0).count()..]
}

/// A DER element.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    if content.len() < 128 {
        bytes.push(content.len() as u8);
    } else {
        let length = content.len().to_be_bytes();
        let length = without_zeros(&length);
        bytes.push(0x80 | length.len() as u8);
        bytes.extend_from_slice(length);
    }
    bytes.extend_from_slice(content);
    bytes
}

/// A DER integer that is not negative.
fn integer(number: &[u8]) -> Vec<u8> {
    let number = without_zeros(number);
    let needs_zero = number.first().is_none_or(|byte| byte & 0x80 != 0);
    element(0x02, &[if needs_zero { &[0][..] } else { &[] }, number].concat())
}
