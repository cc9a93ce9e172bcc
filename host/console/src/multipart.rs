//! Forms with a file: fields first, then the file, which is passed on as it comes.

use std::io;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use futures_util::{StreamExt as _, stream};

use crate::form::Form;
use crate::refusal::Refusal;

/// Maximum size of the fields before the file, together.
const MOST_BYTES: usize = 64 << 10;
/// Length of the longest boundary (RFC 2046, section 5.1.1).
const LONGEST_BOUNDARY: usize = 70;

/// A body that is read up to its next boundary.
struct Reader {
    body: BodyDataStream,
    /// Bytes that were read and not yet used.
    buffer: Vec<u8>,
    delimiter: Vec<u8>,
    /// Bytes that may still be used before the file.
    left: usize,
}

fn invalid() -> Refusal {
    Refusal::new("invalid_request", "The form was cut off, or is none with a file.", StatusCode::BAD_REQUEST)
}

/// Splits a form into its fields and its file, which is its last.
pub(crate) async fn read(parts: &Parts, body: Body) -> Result<(Form, Body), Refusal> {
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let (_, boundary) = kind.split_once("boundary=").ok_or_else(invalid)?;
    let boundary = Some(boundary.trim_matches('"')).filter(|it| it.len() <= LONGEST_BOUNDARY).ok_or_else(invalid)?;
    let delimiter = format!("\r\n--{boundary}").into_bytes();
    // The first boundary has no line before it.
    let mut reader = Reader { body: body.into_data_stream(), buffer: b"\r\n".to_vec(), delimiter, left: MOST_BYTES };
    reader.until(&reader.delimiter.clone()).await?;
    let mut fields = vec![];
    loop {
        let head = reader.until(b"\r\n\r\n").await?;
        let head = String::from_utf8_lossy(&head).into_owned();
        let name = attribute(&head, "name").ok_or_else(invalid)?;
        if attribute(&head, "filename").is_some() {
            return Ok((Form::of(fields), Body::from_stream(reader.file())));
        }
        let value = reader.until(&reader.delimiter.clone()).await?;
        fields.push((name, String::from_utf8_lossy(&value).into_owned()));
    }
}

/// The value of an attribute such as `name="x"`.
fn attribute(head: &str, name: &str) -> Option<String> {
    let (_, rest) = head.split_once(&format!(" {name}=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

impl Reader {
    /// Reads up to some bytes, and over them.
    async fn until(&mut self, wanted: &[u8]) -> Result<Vec<u8>, Refusal> {
        let mut searched = 0;
        loop {
            if let Some(at) = find(&self.buffer[searched..], wanted).map(|at| searched + at) {
                self.left = self.left.checked_sub(at + wanted.len()).ok_or_else(invalid)?;
                let rest = self.buffer.split_off(at + wanted.len());
                let mut found = std::mem::replace(&mut self.buffer, rest);
                found.truncate(at);
                return Ok(found);
            }
            if self.buffer.len() > self.left {
                return Err(invalid());
            }
            // It may have begun at the end.
            searched = (self.buffer.len() + 1).saturating_sub(wanted.len());
            let piece = self.body.next().await.and_then(Result::ok).ok_or_else(invalid)?;
            self.buffer.extend_from_slice(&piece);
        }
    }

    /// The rest up to the boundary, in pieces.
    fn file(self) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
        stream::unfold(Some(self), async |reader| {
            let mut reader = reader?;
            loop {
                if let Some(at) = find(&reader.buffer, &reader.delimiter) {
                    reader.buffer.truncate(at);
                    return Some((Ok(reader.buffer.into()), None));
                }
                // A boundary may have begun at the end.
                if let Some(sure) = reader.buffer.len().checked_sub(reader.delimiter.len()).filter(|sure| *sure > 0) {
                    let rest = reader.buffer.split_off(sure);
                    let piece = std::mem::replace(&mut reader.buffer, rest);
                    return Some((Ok(piece.into()), Some(reader)));
                }
                match reader.body.next().await {
                    Some(Ok(piece)) => reader.buffer.extend_from_slice(&piece),
                    _ => return Some((Err(io::ErrorKind::UnexpectedEof.into()), None)),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::http::Request;

    use super::*;

    async fn parsed(text: &'static str, piece: usize) -> Result<(Form, Result<Bytes, axum::Error>), Refusal> {
        let pieces: Vec<_> = text.as_bytes().chunks(piece).map(|it| Ok::<_, io::Error>(Bytes::from(it))).collect();
        let request = Request::builder().header(CONTENT_TYPE, "multipart/form-data; boundary=XX").body(()).unwrap();
        let (parts, ()) = request.into_parts();
        let (form, file) = read(&parts, Body::from_stream(stream::iter(pieces))).await?;
        Ok((form, to_bytes(file, 1 << 20).await))
    }

    #[tokio::test]
    async fn a_file_is_passed_on_however_it_is_cut() {
        const FORM: &str = "--XX\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nLUCKPERMS\r\n--XX\r\nContent-Disposition: \
            form-data; name=\"file\"; filename=\"a b.json\"\r\nContent-Type: text/plain\r\n\r\nline 1\r\n--X not it\r\n\r\n--XX--\r\n";
        for piece in [1, 3, 7, 1000] {
            let (form, file) = parsed(FORM, piece).await.unwrap();
            assert_eq!(form.get("kind"), Some("LUCKPERMS"));
            assert_eq!(file.unwrap(), "line 1\r\n--X not it\r\n", "in pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn fields_before_the_file_are_bounded_together() {
        let field = "--XX\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nx\r\n".repeat(MOST_BYTES / 50);
        let form =
            format!("{field}--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nx\r\n--XX--\r\n");
        assert!(parsed(form.leak(), 1000).await.is_err());
    }

    #[tokio::test]
    async fn a_form_that_is_cut_off_is_refused() {
        assert!(parsed("--XX\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nLUCK", 5).await.is_err());
        let cut = "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nline 1\r\n";
        let (_, file) = parsed(cut, 5).await.unwrap();
        assert!(file.is_err(), "half a file is no file");
    }
}
