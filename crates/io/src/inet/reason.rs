//! What a request answers: bytes, or the name of an error.

/// The error part of `{error, Reason}`.
pub type Reason = &'static str;

/// The answer to a request.
pub type Reply = Result<Vec<u8>, Reason>;

pub fn last_error() -> Reason {
    name_of(&std::io::Error::last_os_error())
}

pub fn name_of(error: &std::io::Error) -> Reason {
    crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO))
}
