//! JSON Web Key Sets (RFC 7517).

use crate::base64url::decode;
use crate::crypto::{Algorithm, PublicKey};
use crate::json::Json;

/// The largest key set, in bytes.
pub const MAXIMUM_BYTES: usize = 256 << 10;
/// How many keys of a set are used.
pub const MAXIMUM_KEYS: usize = 64;
/// The longest key id, in bytes.
const MAXIMUM_ID: usize = 256;

#[derive(Debug)]
struct Key {
    id: Option<String>,
    public: PublicKey,
}

/// The keys of a set that can verify tokens.
#[derive(Debug)]
pub struct KeySet {
    keys: Vec<Key>,
    /// The text of the set.
    pub source: Vec<u8>,
}

impl KeySet {
    /// Reads a set. Keys of other kinds, for encryption, or with mistakes are left out.
    pub fn parse(bytes: &[u8]) -> Result<KeySet, String> {
        if bytes.len() > MAXIMUM_BYTES {
            return Err(format!("the key set has {} bytes; at most {MAXIMUM_BYTES} are read", bytes.len()));
        }
        let json = Json::parse(bytes).map_err(|problem| format!("the key set is not valid JSON: {problem}"))?;
        let listed = json.member("keys").and_then(Json::list).ok_or("the key set has no list \"keys\"")?;
        let keys: Vec<Key> = listed.iter().filter_map(read).take(MAXIMUM_KEYS).collect();
        if keys.is_empty() {
            return Err("the key set has no key for RS256, ES256 or EdDSA".into());
        }
        Ok(KeySet { keys, source: bytes.to_vec() })
    }

    /// The keys for an algorithm with this id; without an id, all keys for it.
    pub fn matching<'a>(&'a self, algorithm: Algorithm, id: Option<&'a str>) -> impl Iterator<Item = &'a PublicKey> {
        self.keys
            .iter()
            .filter(move |key| key.public.algorithm() == algorithm && (id.is_none() || key.id.as_deref() == id))
            .map(|key| &key.public)
    }
}

fn read(json: &Json) -> Option<Key> {
    let text = |name: &str| json.member(name).and_then(Json::text);
    let bytes = |name: &str| text(name).and_then(decode);
    if json.member("use").is_some() && text("use") != Some("sig") {
        return None;
    }
    if let Some(operations) = json.member("key_ops") {
        if !operations.list()?.iter().any(|operation| operation.text() == Some("verify")) {
            return None;
        }
    }
    let public = match (text("kty")?, text("crv")) {
        ("RSA", _) => PublicKey::rsa(&bytes("n")?, &bytes("e")?)?,
        ("EC", Some("P-256")) => PublicKey::p256(&bytes("x")?, &bytes("y")?)?,
        ("OKP", Some("Ed25519")) => PublicKey::ed25519(&bytes("x")?)?,
        _ => return None,
    };
    if json.member("alg").is_some() && text("alg") != Some(public.algorithm().name()) {
        return None;
    }
    let id = match json.member("kid") {
        None => None,
        Some(id) => Some(id.text().filter(|id| id.len() <= MAXIMUM_ID)?.to_owned()),
    };
    Some(Key { id, public })
}
