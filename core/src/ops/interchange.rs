//! Formats in which programs exchange data: JSON, CSV, base64, checksums and digests. Functions of the library
//! (`tierup/lib/jsons.py`, `csvs.py`, `digests.py`), which ask Python for what it computes in C.

use super::bytes::like::is_like;
use super::{Body, OpDef};
use crate::types::Kind;
use crate::typing::Arg;

fn of_bytes(a: &[Arg]) -> bool {
    is_like(a[0].ty)
}

fn of_texts(a: &[Arg]) -> bool {
    is_like(a[0].ty) || *a[0].ty == Kind::Str
}

macro_rules! digest {
    ($path:literal, $body:literal, $doc:literal) => {
        OpDef::new(&[$path], "string=..., *, usedforsecurity=True", Body::Py($body))
            .only_if(|a| a[0].is_omitted() || of_bytes(a))
            .raises()
            .reads()
            .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["json.dumps"],
        "obj, *, skipkeys=False, ensure_ascii=True, allow_nan=True, indent=None, separators=None, sort_keys=False",
        Body::Py("jsons.dumps"),
    )
    .raises()
    .reads()
    .doc("A value as JSON; TypeError, ValueError."),
    OpDef::new(
        &["csv.reader", "_csv.reader"],
        "csvfile, /, dialect='excel', *, delimiter=..., quotechar=..., doublequote=True, skipinitialspace=False",
        Body::Py("csvs.reader"),
    )
    .only_if(|a| a[1].text() == Some("excel"))
    .raises()
    .doc("Rows of texts, out of lines; csv.Error."),
    OpDef::new(
        &["csv.DictReader"],
        "f, fieldnames=None, *, restval=None, delimiter=..., quotechar=...",
        Body::Py("csvs.dict_reader"),
    )
    .raises()
    .doc("Rows as dicts by the names in the first one."),
    OpDef::new(
        &["csv.writer", "_csv.writer"],
        "csvfile, /, dialect='excel', *, delimiter=..., quotechar=..., lineterminator=...",
        Body::Py("csvs.writer"),
    )
    .only_if(|a| a[1].text() == Some("excel"))
    .raises()
    .doc("What writes rows into an object with a method `write`."),
    OpDef::new(&["binascii.b2a_base64"], "data, /, *, newline=True", Body::Py("digests.b2a_base64"))
        .only_if(of_bytes)
        .raises()
        .reads()
        .doc("Bytes as a line of base64."),
    OpDef::new(&["binascii.a2b_base64"], "data, /, *, strict_mode=False", Body::Py("digests.a2b_base64"))
        .only_if(of_texts)
        .raises()
        .reads()
        .doc("The bytes of a text in base64; binascii.Error."),
    OpDef::new(&["binascii.crc32", "zlib.crc32"], "data, value=0, /", Body::Py("digests.crc32"))
        .only_if(of_bytes)
        .raises()
        .reads()
        .doc("The checksum CRC-32."),
    OpDef::new(&["zlib.adler32"], "data, value=1, /", Body::Py("digests.adler32"))
        .only_if(of_bytes)
        .raises()
        .reads()
        .doc("The checksum Adler-32."),
    digest!("hashlib.md5", "digests.md5", "The digest MD5."),
    digest!("hashlib.sha1", "digests.sha1", "The digest SHA-1."),
    digest!("hashlib.sha224", "digests.sha224", "The digest SHA-224."),
    digest!("hashlib.sha256", "digests.sha256", "The digest SHA-256."),
    digest!("hashlib.sha384", "digests.sha384", "The digest SHA-384."),
    digest!("hashlib.sha512", "digests.sha512", "The digest SHA-512."),
];
