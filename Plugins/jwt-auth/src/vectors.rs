//! The examples of the standards, for `carabiner conform`.

use carabiner::Failure;

use crate::base64url::decode;
use crate::crypto::Algorithm;
use crate::keys::KeySet;

/// A key set with one key, and a token that the key has signed.
pub struct Vector {
    algorithm: Algorithm,
    keys: &'static str,
    token: &'static str,
}

pub const RS256: Vector = Vector {
    algorithm: Algorithm::Rs256,
    keys: concat!(
        r#"{"keys":[{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2"#,
        "mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KX",
        "BdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2P",
        r#"AcDTW9gb54h4FRWyuXpoQ"}]}"#
    ),
    token: concat!(
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.",
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQ",
        "jbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqt",
        "FZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    ),
};

pub const ES256: Vector = Vector {
    algorithm: Algorithm::Es256,
    keys: concat!(
        r#"{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#,
        r#""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#
    ),
    token: concat!(
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.",
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    ),
};

pub const EDDSA: Vector = Vector {
    algorithm: Algorithm::EdDsa,
    keys: r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#,
    token: concat!(
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.",
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    ),
};

/// Whether the signature of the example is accepted, and refused if one bit of it or of the data differs.
pub fn holds(vector: &Vector) -> Result<bool, Failure> {
    let keys = KeySet::parse(vector.keys.as_bytes())?;
    let key = keys.matching(vector.algorithm, None).next().ok_or("the key of the example was not read")?;
    let (data, signature) = vector.token.rsplit_once('.').ok_or("the example has no signature")?;
    let mut signature = decode(signature).ok_or("the signature of the example is not base64url")?;
    if !key.has_signed(data.as_bytes(), &signature) {
        return Err("the signature of the example was refused".into());
    }
    if key.has_signed(&data.as_bytes()[1..], &signature) {
        return Err("a signature of other data was accepted".into());
    }
    signature[20] ^= 1;
    if key.has_signed(data.as_bytes(), &signature) {
        return Err("a changed signature was accepted".into());
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::token::{verify, Refusal};
    use carabiner::Config;

    /// The key that RFC 7515, A.3 publishes.
    fn settings(extra: &str) -> (Settings, KeySet) {
        let config = format!(r#"{{"jwks":{},"issuer":"joe","audience":[]{extra}}}"#, ES256.keys);
        (Settings::read(&Config::new(&config)).unwrap(), KeySet::parse(ES256.keys.as_bytes()).unwrap())
    }

    #[test]
    fn the_examples_hold() {
        for vector in [RS256, ES256, EDDSA] {
            assert!(holds(&vector).unwrap());
        }
    }

    #[test]
    fn times_are_checked_with_the_tolerance() {
        let (settings, keys) = settings("");
        let check = |now: f64| verify(ES256.token, &keys, &settings, now).err();
        assert_eq!(check(0.0), None);
        assert_eq!(check(1_300_819_409.9), None);
        assert_eq!(check(1_300_819_410.0), Some(Refusal::Invalid("the token has expired")));
    }

    #[test]
    fn claims_become_headers() {
        let (settings, keys) = settings("");
        let claims = verify(ES256.token, &keys, &settings, 0.0).unwrap();
        assert_eq!(claims.header_value("iss").unwrap().as_deref(), Some("joe"));
        assert_eq!(claims.header_value("http://example.com/is_root").unwrap().as_deref(), Some("true"));
        assert_eq!(claims.header_value("sub").unwrap(), None);
    }

    #[test]
    fn a_token_of_another_algorithm_finds_no_key() {
        let (settings, keys) = settings("");
        assert_eq!(verify(RS256.token, &keys, &settings, 0.0).err(), Some(Refusal::UnknownKey));
        let (restricted, keys) = self::settings(r#","algorithms":["EdDSA"]"#);
        let refusal = Refusal::Invalid("the algorithm of the token is not accepted");
        assert_eq!(verify(ES256.token, &keys, &restricted, 0.0).err(), Some(refusal));
    }

    #[test]
    fn changed_and_cut_tokens_are_refused() {
        let (settings, keys) = settings("");
        for end in 0..ES256.token.len() {
            assert!(verify(&ES256.token[..end], &keys, &settings, 0.0).is_err(), "{end}");
        }
        for at in 0..ES256.token.len() {
            let mut changed = ES256.token.as_bytes().to_vec();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(verify(std::str::from_utf8(&changed).unwrap(), &keys, &settings, 0.0).is_err(), "{at}");
        }
    }

    #[test]
    fn keys_that_are_too_weak_or_wrong_are_left_out() {
        let set = |key: &str| KeySet::parse(format!(r#"{{"keys":[{key}]}}"#).as_bytes()).map(|_| ());
        for key in [
            r#"{"kty":"oct","k":"c2VjcmV0"}"#,
            r#"{"kty":"RSA","e":"AQAB","n":"wgWCuLjybRlzo0tZWJj"}"#,
            r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
            r#"{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            r#"{"kty":"OKP","crv":"Ed25519","use":"enc","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            r#"{"kty":"OKP","crv":"Ed25519","alg":"RS256","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            r#"{"kty":"OKP","crv":"Ed25519","key_ops":["sign"],"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            "1",
        ] {
            assert!(set(key).is_err(), "{key}");
        }
        assert!(KeySet::parse(&vec![b' '; crate::keys::MAXIMUM_BYTES + 1]).is_err());
    }
}
