//! Names of system errors, as Erlang programs see them: the symbol in lower case.

macro_rules! errors {
    ($($symbol:ident $name:literal),* $(,)?) => {
        /// `enoent` for ENOENT, and so on; `unknown` for numbers without a name.
        pub fn name(code: i32) -> &'static str {
            match code {
                $(libc::$symbol => $name,)*
                _ => "unknown",
            }
        }
    };
}

errors! {
    E2BIG "e2big", EACCES "eacces", EADDRINUSE "eaddrinuse", EADDRNOTAVAIL "eaddrnotavail", EAFNOSUPPORT "eafnosupport",
    EAGAIN "eagain", EALREADY "ealready", EBADF "ebadf", EBADMSG "ebadmsg", EBUSY "ebusy", ECANCELED "ecanceled",
    ECHILD "echild", ECONNABORTED "econnaborted", ECONNREFUSED "econnrefused", ECONNRESET "econnreset", EDEADLK "edeadlk",
    EDESTADDRREQ "edestaddrreq", EDOM "edom", EDQUOT "edquot", EEXIST "eexist", EFAULT "efault", EFBIG "efbig",
    EHOSTDOWN "ehostdown", EHOSTUNREACH "ehostunreach", EIDRM "eidrm", EILSEQ "eilseq", EINPROGRESS "einprogress", EINTR "eintr",
    EINVAL "einval", EIO "eio", EISCONN "eisconn", EISDIR "eisdir", ELOOP "eloop", EMFILE "emfile", EMLINK "emlink",
    EMSGSIZE "emsgsize", EMULTIHOP "emultihop", ENAMETOOLONG "enametoolong", ENETDOWN "enetdown", ENETRESET "enetreset",
    ENETUNREACH "enetunreach", ENFILE "enfile", ENOBUFS "enobufs", ENODATA "enodata", ENODEV "enodev", ENOENT "enoent",
    ENOEXEC "enoexec", ENOLCK "enolck", ENOLINK "enolink", ENOMEM "enomem", ENOMSG "enomsg", ENOPROTOOPT "enoprotoopt",
    ENOSPC "enospc", ENOSR "enosr", ENOSTR "enostr", ENOSYS "enosys", ENOTBLK "enotblk", ENOTCONN "enotconn",
    ENOTDIR "enotdir", ENOTEMPTY "enotempty", ENOTSOCK "enotsock", ENOTSUP "enotsup", ENOTTY "enotty", ENXIO "enxio",
    EOVERFLOW "eoverflow", EPERM "eperm", EPFNOSUPPORT "epfnosupport", EPIPE "epipe", EPROTO "eproto",
    EPROTONOSUPPORT "eprotonosupport", EPROTOTYPE "eprototype", ERANGE "erange", EROFS "erofs", ESHUTDOWN "eshutdown",
    ESOCKTNOSUPPORT "esocktnosupport", ESPIPE "espipe", ESRCH "esrch", ESTALE "estale", ETIME "etime", ETIMEDOUT "etimedout",
    ETXTBSY "etxtbsy", EUSERS "eusers", EXDEV "exdev",
}
